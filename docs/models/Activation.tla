----------------------------- MODULE Activation -----------------------------
(***************************************************************************)
(* One lock, a fixed set of leaders, and the homes that ask them for it.   *)
(*                                                                         *)
(* A home is a member that asks on behalf of its clients.  A request goes  *)
(* ENTERING (asks the leaders for their highest ticket), TICKETED (has the *)
(* highest of a majority, plus one), HOLDING (a majority has it active).   *)
(* A leader has one request active, or readers beside each other, and goes *)
(* by the smallest ticket that waits: a reader does not pass a writer.     *)
(*                                                                         *)
(* Time is abstract.  An acknowledgement may lapse at any moment; a wait   *)
(* of a leader ends only when every acknowledgement that it waits for has  *)
(* lapsed, which is what a wait that is longer than a lease says.  What it *)
(* waits for after a start is what its disk says, and nothing else: the    *)
(* horizon that its former lives have written.  Links keep order and may   *)
(* take for ever: a partition is a link that does.                         *)
(*                                                                         *)
(* Each rule B1 to B6 is a constant, and so are those of the horizon; with *)
(* one of them FALSE the model must be found wrong.                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences, TLC

CONSTANTS
    Homes,      \* 1..n; the number breaks ties of tickets
    Readers,    \* those of them that ask as readers; all others are writers
    Leaders,    \* a set of model values
    Rounds,     \* how many requests each home makes
    Restarts,   \* how many restarts of single leaders there are
    Outages,    \* how many times all leaders end at once, and start again
    Losses,     \* how many of these starts find no directory
    Crashes,    \* how many leaders may stop forever
    Withdrawals, \* whether clients cease to wait
    B1,         \* what a leader has active keeps out what excludes it, until it is over or given back
    B2,         \* a leader activates the smallest ticket, and nobody over the head of one that is entering
    Fair,       \* a reader waits behind a writer's smaller ticket, also where readers are active
    B3,         \* whoever is not holding gives an activation back for a smaller ticket
    B4,         \* what is over at a leader stays over: a message of it comes in order, or is not heeded
    B5,         \* a restarted leader is silent until its horizon: then nothing is counted that its former lives said
    Ahead,      \* the horizon is on disk before an activation leaves that it is to cover
    Forward,    \* the first record of a life has the horizon that it has found: a second start waits for it, too
    Whole,      \* a life that finds no directory waits for everybody
    B6,         \* an acknowledgement is that of one life of a leader
    Floor       \* a leader refuses tickets up to the highest that held, and a new life up to all of its former ones

ASSUME Homes \subseteq Nat \ {0} /\ Readers \subseteq Homes

VARIABLES
    life,       \* [Leaders -> Nat]: which life of it runs
    state,      \* [Leaders -> {"serving", "silent", "stopped"}]
    table,      \* [Leaders -> [Homes -> entry]]
    active,     \* [Leaders -> SUBSET Homes]
    asked,      \* [Leaders -> SUBSET Homes]: those of the active ones that were asked to yield
    floor,      \* [Leaders -> [all, writers: ticket]]: no ticket that is not above is let in, of a reader the second
    high,       \* [Leaders -> Nat]: the highest ticket it knows of; reserved on its disk
    waits,      \* [Leaders -> SUBSET Homes]: those that may count former lives of it, as its disk has said at its start
    toLeader,   \* [Homes -> [Leaders -> Seq(message)]]
    toHome,     \* the same, the other way
    phase,      \* [Homes -> {"idle", "entering", "ticketed", "holding", "over"}]
    round,      \* [Homes -> Nat]: the number of its request; none is used twice
    left,       \* [Homes -> Nat]: how many requests its clients still make
    refused,    \* [Homes -> SUBSET Leaders]: who has refused its ticket
    ticket,     \* [Homes -> Nat]; 0 before it has one
    best,       \* [Homes -> Nat]: the highest ticket that it was told of
    entered,    \* [Homes -> SUBSET Leaders]: who has answered ENTERING
    acks,       \* [Homes -> [Leaders -> Nat]]: the life whose activation it counts; 0 for none
    known,      \* [Homes -> [Leaders -> Nat]]: the life with which it has a session
    last,       \* [all, writers]: the highest token that was held
    since,      \* [Homes -> token]: the highest one that was held when it asked
    wrong,      \* what was broken, if anything was
    budget      \* [restarts, outages, losses, crashes] that are left

leaderVars == <<life, state, table, active, asked, floor, high, waits>>
homeVars   == <<phase, round, left, refused, ticket, best, entered, acks, known, since>>
vars == <<leaderVars, toLeader, toHome, homeVars, last, wrong, budget>>

None == [is |-> "none", t |-> 0, r |-> 0, before |-> {}]
Majority(set) == 2 * Cardinality(set) > Cardinality(Leaders)
Max(a, b) == IF a > b THEN a ELSE b
Smaller(t1, h1, t2, h2) == t1 < t2 \/ (t1 = t2 /\ h1 < h2)
Above(low, t, h) == Smaller(low[1], low[2], t, h)
Higher(a, b) == IF Smaller(a[1], a[2], b[1], b[2]) THEN b ELSE a
Together(g, h) == g \in Readers /\ h \in Readers
Zero == <<0, 0>>
None2 == [all |-> Zero, writers |-> Zero]
Raise(low, by, h) == [all |-> Higher(low.all, by),
                      writers |-> IF h \in Readers THEN low.writers ELSE Higher(low.writers, by)]
Bar(low, h) == IF h \in Readers THEN low.writers ELSE low.all

Init ==
    /\ life = [l \in Leaders |-> 1]
    /\ state = [l \in Leaders |-> "serving"]
    /\ table = [l \in Leaders |-> [h \in Homes |-> None]]
    /\ active = [l \in Leaders |-> {}]
    /\ asked = [l \in Leaders |-> {}]
    /\ floor = [l \in Leaders |-> None2]
    /\ high = [l \in Leaders |-> 0]
    /\ waits = [l \in Leaders |-> {}]
    /\ toLeader = [h \in Homes |-> [l \in Leaders |-> <<>>]]
    /\ toHome = [h \in Homes |-> [l \in Leaders |-> <<>>]]
    /\ phase = [h \in Homes |-> "idle"]
    /\ round = [h \in Homes |-> 0]
    /\ left = [h \in Homes |-> Rounds]
    /\ refused = [h \in Homes |-> {}]
    /\ ticket = [h \in Homes |-> 0]
    /\ best = [h \in Homes |-> 0]
    /\ entered = [h \in Homes |-> {}]
    /\ acks = [h \in Homes |-> [l \in Leaders |-> 0]]
    /\ known = [h \in Homes |-> [l \in Leaders |-> 1]]
    /\ last = None2
    /\ since = [h \in Homes |-> Zero]
    /\ wrong = ""
    /\ budget = [restarts |-> Restarts, outages |-> Outages, losses |-> Losses, crashes |-> Crashes]

-----------------------------------------------------------------------------
(* Homes *)

Say(h, m) == [toLeader EXCEPT ![h] = [l \in Leaders |-> Append(@[l], m)]]
Live(h) == phase[h] \in {"entering", "ticketed", "holding", "lost"}
Believes(h) == phase[h] \in {"holding", "lost"}

\* A client asks: ENTERING and GETMAXTICKET to all leaders.
Enter(h) ==
    /\ phase[h] = "idle" /\ left[h] > 0
    /\ phase' = [phase EXCEPT ![h] = "entering"]
    /\ round' = [round EXCEPT ![h] = @ + 1]
    /\ left' = [left EXCEPT ![h] = @ - 1]
    /\ toLeader' = Say(h, [m |-> "ENTERING", r |-> round[h] + 1, t |-> 0])
    /\ since' = [since EXCEPT ![h] = last.all]
    /\ UNCHANGED <<leaderVars, toHome, refused, ticket, best, entered, acks, known, last, wrong, budget>>

Leave(h, held) ==
    /\ phase' = [phase EXCEPT ![h] = IF left[h] = 0 THEN "over" ELSE "idle"]
    /\ acks' = [acks EXCEPT ![h] = [l \in Leaders |-> 0]]
    /\ ticket' = [ticket EXCEPT ![h] = 0]
    /\ toLeader' = Say(h, [m |-> "DROPTICKET", r |-> round[h], t |-> IF held THEN 1 ELSE 0])
    /\ best' = [best EXCEPT ![h] = 0]
    /\ entered' = [entered EXCEPT ![h] = {}]
    /\ refused' = [refused EXCEPT ![h] = {}]
    /\ UNCHANGED <<leaderVars, toHome, round, left, known, since, last, wrong, budget>>

\* The client's UNLOCK; or it has lost the majority, and is over when its client knows.
Unlock(h) == phase[h] = "holding" /\ Leave(h, TRUE)

\* The client does not wait any longer.
Withdraw(h) == Withdrawals /\ phase[h] \in {"entering", "ticketed"} /\ Leave(h, FALSE)

\* It counts that leader no more, since it has restarted or was silent for too long.  Without a majority the lock is
\* lost, and over when the client knows, which it does before anything that it counted could have run out.
Uncount(h, l) ==
    LET kept == [acks[h] EXCEPT ![l] = 0]
        lost == phase[h] = "holding" /\ ~Majority({x \in Leaders : kept[x] # 0})
    IN /\ phase' = [phase EXCEPT ![h] = IF lost THEN "lost" ELSE @]
       /\ acks' = [acks EXCEPT ![h] = IF lost \/ phase[h] = "lost" THEN @ ELSE kept]

Tell(h) == phase[h] = "lost" /\ Leave(h, TRUE)

\* A leader has refused its ticket, and of the others no majority is there, or answers soon, which is any moment: it
\* draws another one, as a new request.
StartOver(h) ==
    /\ phase[h] = "ticketed" /\ refused[h] # {}
    /\ phase' = [phase EXCEPT ![h] = "entering"]
    /\ round' = [round EXCEPT ![h] = @ + 1]
    /\ ticket' = [ticket EXCEPT ![h] = 0]
    /\ acks' = [acks EXCEPT ![h] = [l \in Leaders |-> 0]]
    /\ refused' = [refused EXCEPT ![h] = {}]
    /\ toLeader' = [toLeader EXCEPT ![h] = [l \in Leaders |->
                      @[l] \o <<[m |-> "DROPTICKET", r |-> round[h], t |-> 0],
                                [m |-> "ENTERING", r |-> round[h] + 1, t |-> 0]>>]]
    /\ UNCHANGED <<leaderVars, toHome, left, best, entered, known, since, last, wrong, budget>>

\* A message of a leader, and what follows from it at once.  When a majority has told its highest ticket: ADDTICKET,
\* LOCKEXITING and ACTIVATE to all leaders.  When a majority has it active: LOCKED to the client.
Hear(h, l) ==
    /\ toHome[h][l] # <<>>
    /\ LET m == Head(toHome[h][l])
           counted == m.r = round[h] /\ (B6 => m.life = known[h][l])
           told == m.m = "ENTERED" /\ counted /\ phase[h] = "entering"
           takes == told /\ Majority(entered[h] \cup {l})
           most == Max(best[h], m.t)
           gets == m.m = "ACTIVATED" /\ counted /\ phase[h] \in {"ticketed", "holding"}
           locks == gets /\ phase[h] = "ticketed" /\ Majority({l} \cup {x \in Leaders : acks[h][x] # 0})
           gives == m.m = "YIELD" /\ counted /\ phase[h] = "ticketed" /\ B3
       IN /\ toHome' = [toHome EXCEPT ![h][l] = Tail(@)]
          /\ phase' = [phase EXCEPT ![h] = IF takes THEN "ticketed" ELSE IF locks THEN "holding" ELSE @]
          /\ best' = [best EXCEPT ![h] = IF takes THEN 0 ELSE IF told THEN most ELSE @]
          /\ entered' = [entered EXCEPT ![h] = IF takes THEN {} ELSE IF told THEN @ \cup {l} ELSE @]
          /\ ticket' = [ticket EXCEPT ![h] = IF takes THEN most + 1 ELSE @]
          /\ acks' = [acks EXCEPT ![h][l] = IF gets THEN m.life ELSE IF gives THEN 0 ELSE @]
          /\ refused' = IF m.m = "REFUSED" /\ counted THEN [refused EXCEPT ![h] = @ \cup {l}] ELSE refused
          /\ toLeader' = IF takes THEN Say(h, [m |-> "ADDTICKET", r |-> round[h], t |-> most + 1])
                         ELSE IF gives
                         THEN [toLeader EXCEPT ![h][l] = Append(@, [m |-> "RELINQUISHED", r |-> round[h], t |-> 0])]
                         ELSE toLeader
          /\ last' = IF locks THEN Raise(last, <<ticket[h], h>>, h) ELSE last
          /\ wrong' = IF locks /\ ~(Above(Bar(last, h), ticket[h], h) /\ Above(since[h], ticket[h], h))
                      THEN "a token that does not rise"
                      ELSE IF locks /\ Restarts + Outages = 0 /\ \E g \in Homes \ {h} :
                                  /\ phase[g] = "ticketed" /\ ~Together(g, h)
                                  /\ Smaller(ticket[g], g, ticket[h], h)
                      THEN "a larger ticket before a smaller one"
                      ELSE wrong
    /\ UNCHANGED <<leaderVars, round, left, known, since, budget>>

\* The session with a new life of a leader: whatever was on its way is lost, and what stands is said again.
Meet(h, l) ==
    /\ known[h][l] # life[l] /\ state[l] # "stopped"
    /\ known' = [known EXCEPT ![h][l] = life[l]]
    /\ toHome' = [toHome EXCEPT ![h][l] = <<>>]
    /\ entered' = [entered EXCEPT ![h] = IF B6 THEN @ \ {l} ELSE @]
    /\ IF B6 \/ acks[h][l] = 0 THEN Uncount(h, l)
       ELSE acks' = [acks EXCEPT ![h][l] = life[l]] /\ UNCHANGED phase
    /\ toLeader' = [toLeader EXCEPT ![h][l] =
                      IF phase[h] = "entering" THEN <<[m |-> "ENTERING", r |-> round[h], t |-> 0]>>
                      ELSE IF phase[h] \in {"ticketed", "holding"}
                           THEN <<[m |-> "ADDTICKET", r |-> round[h], t |-> ticket[h]]>>
                      ELSE <<>>]
    /\ UNCHANGED <<leaderVars, round, left, refused, ticket, best, since, last, wrong, budget>>

\* A leader is silent: in the course of time it is counted no more.
Forget(h, l) ==
    /\ acks[h][l] # 0 /\ acks[h][l] # life[l] /\ phase[h] # "lost"
    /\ Uncount(h, l)
    /\ UNCHANGED <<leaderVars, toLeader, toHome, round, left, refused, ticket, best, entered, known, since, last,
                   wrong, budget>>

-----------------------------------------------------------------------------
(* Leaders *)

Tickets(tab) == {h \in Homes : tab[h].is = "ticket"}
First(tab, hs) == CHOOSE h \in hs : \A g \in hs \ {h} : Smaller(tab[h].t, h, tab[g].t, g)

\* Whom this table lets in next beside those: the smallest ticket that waits, when none of those is entering that were
\* before it.
Next1(tab, act) ==
    LET waiting == Tickets(tab) \ act
        fit == {h \in waiting : \A g \in act : Together(g, h) \/ ~B1}
        f == First(tab, IF Fair THEN waiting ELSE fit)
    IN IF fit = {} THEN {}
       ELSE IF ~B2 THEN fit
       ELSE IF \E g \in tab[f].before : tab[g].is = "entering" /\ ~Together(g, f) THEN {}
       ELSE {f} \cap fit

\* All that it lets in; several sets where the order is anyone's.
RECURSIVE Lets(_, _)
Lets(tab, act) ==
    LET next == Next1(tab, act)
    IN IF next = {} THEN {act} ELSE UNION {Lets(tab, act \cup {f}) : f \in next}

\* What follows from a new table: tickets below the floor are refused; the first is let in, and readers behind it; of
\* those that are let in all are told that a smaller ticket waits which cannot be beside them.
Settle(l, given, act, ask, low, answers) ==
    LET late == {h \in Tickets(given) \ act : Floor /\ ~Above(Bar(low, h), given[h].t, h)}
        tab == [h \in Homes |-> IF h \in late THEN None ELSE given[h]]
        tell(answer, h, kind) ==
            [answer EXCEPT ![h][l] = Append(@, [m |-> kind, r |-> given[h].r, t |-> 0, life |-> life[l]])]
        told(answer, hs, kind) ==
            [h \in Homes |-> IF h \in hs THEN tell(answer, h, kind)[h] ELSE answer[h]]
    IN /\ table' = [table EXCEPT ![l] = tab]
       /\ floor' = [floor EXCEPT ![l] = low]
       /\ \E lets \in Lets(tab, act) :
            LET waiting == Tickets(tab) \ lets
                w == First(tab, waiting)
                yield == IF waiting = {} THEN {}
                         ELSE {a \in lets \ ask : ~Together(a, w) /\ Smaller(tab[w].t, w, tab[a].t, a)}
            IN /\ active' = [active EXCEPT ![l] = lets]
               /\ asked' = [asked EXCEPT ![l] = ask \cup yield]
               /\ toHome' = told(told(told(answers, late, "REFUSED"), lets \ act, "ACTIVATED"), yield, "YIELD")

\* B4: the messages of one home come in order; without it, any of those that are on their way may be the next.
Following(h, l) == IF B4 THEN {1} \cap (1 .. Len(toLeader[h][l])) ELSE 1 .. Len(toLeader[h][l])
Without(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))

Serve(h, l) ==
    /\ state[l] = "serving" /\ known[h][l] = life[l]
    /\ \E i \in Following(h, l) :
        LET m == toLeader[h][l][i]
            e == table[l][h]
            tab == table[l]
            others == {g \in Homes \ {h} : tab[g].is = "entering"}
            reply(kind, n) == [toHome EXCEPT ![h][l] =
                                 Append(@, [m |-> kind, r |-> m.r, t |-> n, life |-> life[l]])]
        IN /\ toLeader' = [toLeader EXCEPT ![h][l] = Without(@, i)]
           /\ high' = IF m.m = "ADDTICKET" THEN [high EXCEPT ![l] = Max(@, m.t)] ELSE high
           /\ CASE m.m = "ENTERING" ->
                     Settle(l, [tab EXCEPT ![h] = [is |-> "entering", t |-> 0, r |-> m.r, before |-> {}]],
                            active[l], asked[l], floor[l], reply("ENTERED", high[l]))
                [] m.m = "ADDTICKET" ->
                     Settle(l, [tab EXCEPT ![h] = [is |-> "ticket", t |-> m.t, r |-> m.r, before |-> others]],
                            active[l], asked[l], floor[l], toHome)
                [] m.m = "DROPTICKET" ->
                     LET held == h \in active[l] /\ m.t = 1
                     IN Settle(l, [tab EXCEPT ![h] = None], active[l] \ {h}, asked[l] \ {h},
                               IF held THEN Raise(floor[l], <<e.t, h>>, h) ELSE floor[l], toHome)
                [] m.m = "RELINQUISHED" ->
                     LET back == IF e.r = m.r THEN {h} ELSE {}
                     IN Settle(l, tab, active[l] \ back, asked[l] \ back, floor[l], toHome)
    /\ UNCHANGED <<life, state, waits, homeVars, last, wrong, budget>>

\* Which of those that start find no directory.
Gone(ls) == {g \in SUBSET ls : Cardinality(g) <= budget.losses}

\* These leaders end, and start with empty tables.  Their disks say how far their tickets went, and how long they are
\* silent.  A horizon was behind all that its leader has let in, and behind what that still waited for.  A leader that
\* finds no directory waits for everybody, and its next life for the rest of that.
Anew(ls, gone) ==
    /\ \E late \in [ls -> IF Ahead THEN {{}} ELSE SUBSET Homes] :
          /\ \A l \in ls : late[l] \subseteq active[l]
          /\ waits' = [l \in Leaders |->
                         IF l \notin ls THEN waits[l]
                         ELSE IF l \in gone THEN (IF Whole THEN Homes ELSE {})
                         ELSE (active[l] \ late[l]) \cup (IF Forward THEN waits[l] ELSE {})]
    /\ life' = [l \in Leaders |-> IF l \in ls THEN life[l] + 1 ELSE life[l]]
    /\ state' = [l \in Leaders |-> IF l \notin ls THEN state[l] ELSE IF B5 THEN "silent" ELSE "serving"]
    /\ table' = [l \in Leaders |-> IF l \in ls THEN [h \in Homes |-> None] ELSE table[l]]
    /\ active' = [l \in Leaders |-> IF l \in ls THEN {} ELSE active[l]]
    /\ asked' = [l \in Leaders |-> IF l \in ls THEN {} ELSE asked[l]]
    /\ floor' = [l \in Leaders |->
                   IF l \notin ls THEN floor[l]
                   ELSE LET low == <<high[l], Cardinality(Homes)>>
                        IN IF Floor /\ l \notin gone THEN [all |-> low, writers |-> low] ELSE None2]
    /\ high' = [l \in Leaders |-> IF l \in ls /\ (l \in gone \/ ~Floor) THEN 0 ELSE high[l]]
    /\ toLeader' = [h \in Homes |-> [l \in Leaders |-> IF l \in ls THEN <<>> ELSE toLeader[h][l]]]
    /\ UNCHANGED <<toHome, homeVars, last, wrong>>

\* One ends, and starts.
Restart(l) ==
    /\ budget.restarts > 0 /\ state[l] # "stopped"
    /\ \E gone \in Gone({l}) :
          /\ budget' = [budget EXCEPT !.restarts = @ - 1, !.losses = @ - Cardinality(gone)]
          /\ Anew({l}, gone)

\* The power fails: all end at once, and start.
Outage ==
    /\ budget.outages > 0 /\ \A l \in Leaders : state[l] # "stopped"
    /\ \E gone \in Gone(Leaders) :
          /\ budget' = [budget EXCEPT !.outages = @ - 1, !.losses = @ - Cardinality(gone)]
          /\ Anew(Leaders, gone)

\* Its horizon is over: those that it waits for count it no more, and what they still hear of its former lives is too
\* old to be counted.
Speak(l) ==
    /\ state[l] = "silent"
    /\ \A h \in waits[l] : acks[h][l] \in {0, life[l]}
    /\ state' = [state EXCEPT ![l] = "serving"]
    /\ waits' = [waits EXCEPT ![l] = {}]
    /\ toHome' = [h \in Homes |->
                    IF h \in waits[l]
                    THEN [toHome[h] EXCEPT ![l] = SelectSeq(@, LAMBDA m : m.life = life[l])]
                    ELSE toHome[h]]
    /\ UNCHANGED <<life, table, active, asked, floor, high, toLeader, homeVars, last, wrong, budget>>

Stop(l) ==
    /\ budget.crashes > 0 /\ state[l] = "serving"
    /\ budget' = [budget EXCEPT !.crashes = @ - 1]
    /\ state' = [state EXCEPT ![l] = "stopped"]
    /\ UNCHANGED <<life, table, active, asked, floor, high, waits, toLeader, toHome, homeVars, last, wrong>>

\* So that the end of all requests is not taken for a deadlock.
Done == (\A h \in Homes : phase[h] = "over") /\ UNCHANGED vars

Next ==
    \/ \E h \in Homes : Enter(h) \/ Unlock(h) \/ Withdraw(h) \/ Tell(h) \/ StartOver(h)
    \/ \E h \in Homes, l \in Leaders : Hear(h, l) \/ Meet(h, l) \/ Serve(h, l) \/ Forget(h, l)
    \/ \E l \in Leaders : Restart(l) \/ Speak(l) \/ Stop(l)
    \/ Outage
    \/ Done

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must be true *)

Exclusion == \A g, h \in Homes : Believes(g) /\ Believes(h) => g = h \/ Together(g, h)
OrderAndTokens == wrong = ""

\* Nothing of a request that is over stays at a leader that has processed all that was said to it.
NoGhost ==
    \A h \in Homes, l \in Leaders :
        (state[l] = "serving" /\ known[h][l] = life[l] /\ toLeader[h][l] = <<>> /\ table[l][h].is # "none")
            => (Live(h) /\ table[l][h].r = round[h])

\* A leader waits for each home that may count a former life of it: with two leaders, one that forgets breaks nothing
\* that Exclusion sees.
Awaited ==
    \A h \in Homes, l \in Leaders :
        (acks[h][l] \notin {0, life[l]} /\ state[l] # "stopped") => (state[l] = "silent" /\ h \in waits[l])

Symmetry == Permutations(Leaders)
=============================================================================
