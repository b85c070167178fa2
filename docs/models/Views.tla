------------------------------- MODULE Views --------------------------------
(***************************************************************************)
(* Who leads the bakery, and what a change of leaders does to one lock.    *)
(*                                                                         *)
(* Members elect views, one after the other.  A view says who has which    *)
(* seat, and since which view: a seat is a leader's place in the majority  *)
(* by which a lock is held.  Homes ask the leaders for the lock.  A home   *)
(* counts what a leader says only while a majority of all members has      *)
(* confirmed the home's view to it.  A leader that gets a seat is silent   *)
(* until nobody counts what the former one has said.                       *)
(*                                                                         *)
(* Time is abstract.  What a member has confirmed to a home may lapse at   *)
(* any moment.  A silence waits for what stood when it began, and for      *)
(* nothing that was confirmed anew after that, which is what a wait for a  *)
(* fixed time says.  Links may take for ever: a partition is a link that   *)
(* does.  That a leader lets one request in at a time, and that what it    *)
(* has said lapses at a home before it does at the leader, is Activation's *)
(* (B1, B5, B6), and is taken from there.                                  *)
(*                                                                         *)
(* A member that starts anew knows what is on its disk, and nothing else.  *)
(* What it still has to wait for is there: a horizon behind all that its   *)
(* former lives have said, that it was open by its seat, and that it has   *)
(* forgotten what it had promised.  Homes do not notice a start: they      *)
(* count what a former life has said until they hear nothing of it.        *)
(*                                                                         *)
(* Each rule V1 to V6 is a constant, and so is each rule of starts; with   *)
(* one of them FALSE the model must be found wrong.                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Members,    \* a set of model values
    Homes,      \* a set of model values; none: views alone
    Seats,      \* how many leaders a view has
    Views,      \* how many views there are, the first one included
    Known,      \* whether all members know the first view from the beginning; else it is elected, too
    Starts,     \* how many times members end and start anew with their files
    Losses,     \* how many times without
    Copies,     \* how many times with a copy of them that is put back
    Ends,       \* how many times they end in order, and carry over what they have let in (fail-over)
    Requests,   \* how many requests each home makes
    Tokens,     \* whether requests have tickets
    V1,         \* who has voted for a view confirms no older one, and votes for none
    V2,         \* a home counts only while a majority of the members has confirmed its view
    V2None,     \* who knew no view has confirmed none
    V3,         \* who gets a seat is silent until nothing that the former leader said is counted
    V4,         \* a home counts those who have their seats by its own view, and nobody else
    V5,         \* whose file is lost waits, and learns from a majority, before it votes or confirms
    V6,         \* who gets a seat lets in only what is above all that former leaders were allowed to let in
    Opens,      \* a life that finds its seat is silent anew, unless its disk says that it was open by that very seat
    Forward,    \* the horizon of a life covers all that it waits for, so that the next life waits for the rest
    Remembers,  \* who has forgotten has still forgotten in its next life, until it learns
    Altered,    \* a directory that is not the one that was written is lost, with all its files
    Recent,     \* what a member has recorded counts for no longer than what it has confirmed
    Reasserts,    \* whether a silent leader lets in who has held before (fail-over)
    Closed,     \* it does so only when no former leader can let anybody in any more
    Empties     \* who gets a seat, or loses it, has let nobody in, whatever it has carried over

VARIABLES
    content,    \* [1..Views -> [1..Seats -> <<member, since>>]]; empty where no view was elected
    votes,      \* [1..Views -> SUBSET Members]
    basis,      \* [1..Views -> Nat]: the latest view that a voter had adopted
    told,       \* [1..Views -> Nat]: the highest ticket that a voter had recorded
    promised,   \* [Members -> Nat]: on disk
    adopted,    \* [Members -> Nat]: on disk
    recorded,   \* [Members -> Nat]: no leader of its view lets in a ticket above what a majority has recorded; on disk
    forgot,     \* [Members -> BOOLEAN]: its file was lost; on disk, if it remembers that
    opened,     \* [Members -> BOOLEAN]: it was open by the seat that it has; on disk
    short,      \* [Members -> BOOLEAN]: its horizon ends before what it waits for; on disk
    copy,       \* of the files of a member, as <<member, its files>>; empty if there is none
    tenure,     \* [Members -> Nat]: since which view it has its seat, as it knows; 0 for none
    speaks,     \* [Members -> BOOLEAN]
    hurries,    \* [Members -> BOOLEAN]: this life takes it that what its former lives have said has lapsed
    carried,    \* [Members -> Nat]: by which seat a former life has let in whom it lets in; 0 if none has
    active,     \* [Members -> Homes \cup {Nobody}]: whom it lets in
    high,       \* [Members -> Nat]: the highest ticket that it knows of; none up to the floor is let in
    floor,      \* [Members -> Nat]
    backed,     \* [Members -> [Members -> Nat]]: so far a member has recorded for it by its present view
    granted,    \* [Members -> Nat]: the highest ticket that it may let in
    waits,      \* [Members -> SUBSET (Homes \X Members)]: the confirmations that its silence waits for
    waitsFor,   \* [Members -> SUBSET Homes]: those whose clients may believe in what stood when its silence began
    view,       \* [Homes -> Nat]
    confirmed,  \* [Homes -> SUBSET Members]
    acks,       \* [Homes -> SUBSET (Members \X Nat)]: whose activations it counts, of which tenures
    phase,      \* [Homes -> {"idle", "entering", "ticketed", "holding", "lost"}]
    entered,    \* [Homes -> SUBSET Members]
    best,       \* [Homes -> Nat]
    ticket,     \* [Homes -> Nat]
    left,       \* [Homes -> Nat]
    last,       \* the ticket of the latest holder
    wrong,      \* what was broken, if anything was
    budget      \* [starts, losses, copies, ends] that are left

electors == <<content, votes, basis, told, promised, adopted, recorded, forgot>>
starts   == <<opened, short, copy, hurries, carried>>
leaders  == <<tenure, speaks, active, high, floor, waits, waitsFor, backed, granted, starts>>
homes    == <<view, confirmed, acks, phase, entered, best, ticket, left>>
vars     == <<electors, leaders, homes, last, wrong, budget>>

Nobody == "nobody"
None == [s \in 1 .. Seats |-> <<Nobody, 0>>]
Majority(set) == 2 * Cardinality(set) > Cardinality(Members)
Most(set) == 2 * Cardinality(set) > Seats
Max(a, b) == IF a > b THEN a ELSE b

Tenures(v) == IF v = 0 THEN {} ELSE {content[v][s] : s \in 1 .. Seats}
Since(v, m) == IF \E t \in Tenures(v) : t[1] = m THEN (CHOOSE t \in Tenures(v) : t[1] = m)[2] ELSE 0
Leads(v, m) == Since(v, m) > 0

\* Different members for all seats.
Seatings(set) == {s \in [1 .. Seats -> set] : \A i, j \in 1 .. Seats : i # j => s[i] # s[j]}

\* The view that all know at the beginning.
Before == IF Known THEN 1 ELSE 0

\* No voter knew a view, so that nobody led before.
IsFirst(v) == basis[v] = 0

Init ==
    /\ \E first \in Seatings(Members) :
          content = [v \in 1 .. Views |-> IF v = 1 /\ Known THEN [s \in 1 .. Seats |-> <<first[s], 1>>] ELSE None]
    /\ votes = [v \in 1 .. Views |-> IF v = 1 /\ Known THEN Members ELSE {}]
    /\ basis = [v \in 1 .. Views |-> 0]
    /\ told = [v \in 1 .. Views |-> 0]
    /\ promised = [m \in Members |-> Before]
    /\ adopted = [m \in Members |-> Before]
    /\ recorded = [m \in Members |-> 0]
    /\ forgot = [m \in Members |-> FALSE]
    /\ tenure = [m \in Members |-> Since(1, m)] \* nobody where nothing was elected
    /\ speaks = [m \in Members |-> Leads(1, m)]
    /\ opened = speaks
    /\ short = [m \in Members |-> FALSE]
    /\ copy = <<>>
    /\ hurries = [m \in Members |-> FALSE]
    /\ carried = [m \in Members |-> 0]
    /\ active = [m \in Members |-> Nobody]
    /\ high = [m \in Members |-> 0]
    /\ floor = [m \in Members |-> 0]
    /\ backed = [m \in Members |-> [x \in Members |-> 0]]
    /\ granted = [m \in Members |-> 0]
    /\ waits = [m \in Members |-> {}]
    /\ waitsFor = [m \in Members |-> {}]
    /\ view = [h \in Homes |-> Before]
    /\ confirmed = [h \in Homes |-> {}]
    /\ acks = [h \in Homes |-> {}]
    /\ phase = [h \in Homes |-> "idle"]
    /\ entered = [h \in Homes |-> {}]
    /\ best = [h \in Homes |-> 0]
    /\ ticket = [h \in Homes |-> 0]
    /\ left = [h \in Homes |-> Requests]
    /\ last = 0
    /\ wrong = ""
    /\ budget = [starts |-> Starts, losses |-> Losses, copies |-> Copies, ends |-> Ends]

\* Who loses the lock while a silence waits for what it counted by is waited for until its client knows.
Awaits(l, h) == \E m \in Members : <<h, m>> \in waits[l]
Outlived(h) == [l \in Members |-> IF Awaits(l, h) THEN waitsFor[l] \cup {h} ELSE waitsFor[l]]

Standing == {<<h, m>> \in Homes \X Members : m \in confirmed[h]}
Stands(m) == \E h \in Homes : m \in confirmed[h]
Believes(h) == phase[h] \in {"holding", "lost"}
Leased(h) == ~V2 \/ Majority(confirmed[h])

\* Who may count what former lives of it have said by the seat that it has.  Those that it lets in itself may.
Counted(m) == {h \in Homes : <<m, tenure[m]>> \in acks[h]} \ {active[m]}

-----------------------------------------------------------------------------
(* Members *)

Sound(m) == ~forgot[m] \/ ~V5

\* VOTE: forced to disk before it is said.  It says what its sender has adopted and recorded.
Vote(m, v) ==
    /\ v > Before /\ content[v] = None /\ m \notin votes[v] /\ Sound(m)
    /\ v > promised[m] \/ (~V1 /\ v > adopted[m])
    /\ promised' = [promised EXCEPT ![m] = IF V1 THEN v ELSE @]
    /\ votes' = [votes EXCEPT ![v] = @ \cup {m}]
    /\ basis' = [basis EXCEPT ![v] = Max(@, adopted[m])]
    /\ told' = [told EXCEPT ![v] = Max(@, recorded[m])]
    /\ UNCHANGED <<content, adopted, recorded, forgot, leaders, homes, last, wrong, budget>>

\* LEADERS: whoever asked for the votes has a majority of them.  It gives some seats to voters that have none; all, and
\* to any members, where no voter knew a view.
Elect(v) ==
    /\ content[v] = None /\ v > Before /\ Majority(votes[v])
    /\ IF IsFirst(v)
       THEN \E first \in Seatings(Members) :
              content' = [content EXCEPT ![v] = [s \in 1 .. Seats |-> <<first[s], v>>]]
       ELSE \E s \in 1 .. Seats, m \in votes[v] :
              /\ ~Leads(basis[v], m)
              /\ content' = [content EXCEPT ![v] = [content[basis[v]] EXCEPT ![s] = <<m, v>>]]
    /\ UNCHANGED <<votes, basis, told, promised, adopted, recorded, forgot, leaders, homes, last, wrong, budget>>

\* LEADERS reaches a member.
Adopt(m, v) ==
    /\ content[v] # None /\ v > adopted[m] /\ v >= promised[m] /\ Sound(m)
    /\ adopted' = [adopted EXCEPT ![m] = v]
    /\ promised' = [promised EXCEPT ![m] = v]
    /\ recorded' = [recorded EXCEPT ![m] = Max(@, told[v])]
    /\ backed' = [backed EXCEPT ![m] = [x \in Members |-> 0]]
    /\ granted' = granted
    /\ LET since == Since(v, m)
           new == since > 0 /\ since # tenure[m]
           empties == (since = 0 \/ new) /\ (Empties \/ carried[m] = 0)
           atOnce == ~V3 \/ (IsFirst(v) /\ since = v)
       IN /\ tenure' = [tenure EXCEPT ![m] = since]
          /\ speaks' = [speaks EXCEPT ![m] = IF since = 0 \/ new THEN FALSE ELSE @]
          /\ active' = [active EXCEPT ![m] = IF empties THEN Nobody ELSE @]
          /\ carried' = [carried EXCEPT ![m] = IF empties THEN 0 ELSE @]
          /\ opened' = [opened EXCEPT ![m] = @ /\ ~(since = 0 \/ new)]
          /\ high' = [high EXCEPT ![m] = IF new THEN (IF V6 THEN told[v] ELSE 0) ELSE @]
          /\ floor' = [floor EXCEPT ![m] = IF new THEN (IF V6 THEN told[v] ELSE 0) ELSE @]
          /\ waits' = [waits EXCEPT ![m] = IF new /\ ~atOnce THEN Standing ELSE @]
          /\ waitsFor' = [waitsFor EXCEPT ![m] = IF new /\ ~atOnce THEN {h \in Homes : Believes(h)} ELSE @]
    /\ UNCHANGED <<content, votes, basis, told, forgot, short, copy, hurries, homes, last, wrong, budget>>

\* The silence of a leader is over: that of its seat, and that of its start (B5).
Speak(m) ==
    /\ tenure[m] > 0 /\ ~speaks[m] /\ Sound(m)
    /\ waits[m] = {} /\ waitsFor[m] = {}
    /\ Counted(m) = {} \/ hurries[m]
    /\ speaks' = [speaks EXCEPT ![m] = TRUE]
    /\ opened' = [opened EXCEPT ![m] = TRUE]
    /\ short' = [short EXCEPT ![m] = FALSE]
    /\ hurries' = [hurries EXCEPT ![m] = FALSE]
    /\ UNCHANGED <<electors, tenure, active, high, floor, copy, carried, waits, waitsFor, backed, granted, homes, last,
                   wrong, budget>>

\* A life begins, which knows no tables: with which seat, whom it lets in, and whether it waits for the end of all that
\* is counted, as who has just got its seat does.
Begin(m, seat, lets, silent) ==
    /\ tenure' = [tenure EXCEPT ![m] = seat]
    /\ speaks' = [speaks EXCEPT ![m] = FALSE]
    /\ active' = [active EXCEPT ![m] = lets]
    /\ carried' = [carried EXCEPT ![m] = IF lets = Nobody THEN 0 ELSE IF @ > 0 THEN @ ELSE seat]
    /\ backed' = [backed EXCEPT ![m] = [x \in Members |-> 0]]
    /\ granted' = [granted EXCEPT ![m] = 0]
    /\ waits' = [waits EXCEPT ![m] = IF silent THEN Standing ELSE {}]
    /\ waitsFor' = [waitsFor EXCEPT ![m] = IF silent THEN {h \in Homes : Believes(h)} ELSE {}]

\* It ends, and starts anew with its files.  How far tickets went is there.
Start(m) ==
    /\ budget.starts > 0 /\ ~forgot[m] /\ tenure[m] > 0 \* others lose nothing
    /\ budget' = [budget EXCEPT !.starts = @ - 1]
    /\ Begin(m, tenure[m], Nobody, Opens /\ ~opened[m])
    /\ hurries' = [hurries EXCEPT ![m] = short[m]]
    /\ short' = [short EXCEPT ![m] = ~Forward]
    /\ floor' = [floor EXCEPT ![m] = high[m]]
    /\ UNCHANGED <<electors, high, opened, copy, homes, last, wrong>>

\* The same, of a member that has forgotten: it waits for what its former life has waited for.
StartAgain(m) ==
    /\ budget.starts > 0 /\ forgot[m]
    /\ budget' = [budget EXCEPT !.starts = @ - 1]
    /\ forgot' = [forgot EXCEPT ![m] = Remembers \/ (Stands(m) /\ ~short[m])]
    /\ hurries' = [hurries EXCEPT ![m] = short[m]]
    /\ UNCHANGED <<content, votes, basis, told, promised, adopted, recorded, tenure, speaks, active, high, floor, waits,
                   waitsFor, backed, granted, opened, short, copy, carried, homes, last, wrong>>

\* It ends in order: its next life lets in whom it has let in.
End(m) ==
    /\ budget.ends > 0 /\ speaks[m] /\ active[m] # Nobody
    /\ budget' = [budget EXCEPT !.ends = @ - 1]
    /\ Begin(m, tenure[m], active[m], FALSE)
    /\ floor' = [floor EXCEPT ![m] = high[m]]
    /\ UNCHANGED <<electors, high, opened, short, copy, hurries, homes, last, wrong>>

\* It starts without its files.  It will wait until nothing stands that it has confirmed.
Forgotten(m) ==
    /\ forgot' = [forgot EXCEPT ![m] = TRUE]
    /\ promised' = [promised EXCEPT ![m] = 0]
    /\ adopted' = [adopted EXCEPT ![m] = 0]
    /\ recorded' = [recorded EXCEPT ![m] = 0]
    /\ Begin(m, 0, Nobody, FALSE)
    /\ high' = [high EXCEPT ![m] = 0]
    /\ floor' = [floor EXCEPT ![m] = 0]
    /\ opened' = [opened EXCEPT ![m] = FALSE]
    /\ hurries' = [hurries EXCEPT ![m] = FALSE]
    /\ short' = [short EXCEPT ![m] = ~Forward]
    /\ UNCHANGED <<content, votes, basis, told>>

Lose(m) ==
    /\ budget.losses > 0 /\ ~forgot[m]
    /\ budget' = [budget EXCEPT !.losses = @ - 1]
    /\ Forgotten(m)
    /\ UNCHANGED <<copy, homes, last, wrong>>

Copy(m) ==
    /\ budget.copies > 0 /\ copy = <<>> /\ ~forgot[m]
    /\ copy' = <<m, [promised |-> promised[m], adopted |-> adopted[m], recorded |-> recorded[m], high |-> high[m],
                     opened |-> opened[m]]>>
    /\ UNCHANGED <<electors, tenure, speaks, active, high, floor, waits, waitsFor, backed, granted, opened, short,
                   hurries, carried, homes, last, wrong, budget>>

\* It starts with a copy of its files.  That is noticed, and costs it a whole wait.
PutBack(m) ==
    /\ budget.copies > 0 /\ copy # <<>> /\ copy[1] = m
    /\ budget' = [budget EXCEPT !.copies = @ - 1]
    /\ copy' = <<>>
    /\ IF Altered
       THEN Forgotten(m)
       ELSE LET old == copy[2]
                seat == Since(old.adopted, m)
            IN /\ promised' = [promised EXCEPT ![m] = old.promised]
               /\ adopted' = [adopted EXCEPT ![m] = old.adopted]
               /\ recorded' = [recorded EXCEPT ![m] = old.recorded]
               /\ Begin(m, seat, Nobody, seat > 0 /\ Opens /\ ~old.opened)
               /\ high' = [high EXCEPT ![m] = old.high]
               /\ floor' = [floor EXCEPT ![m] = old.high]
               /\ opened' = [opened EXCEPT ![m] = old.opened]
               /\ hurries' = [hurries EXCEPT ![m] = FALSE]
               /\ forgot' = [forgot EXCEPT ![m] = FALSE]
               /\ UNCHANGED <<content, votes, basis, told, short>>
    /\ UNCHANGED <<homes, last, wrong>>

\* It has waited until nothing stands that it has confirmed, and no vote and no record of it is counted; and since then
\* a majority of others has told it what they have promised, adopted and recorded.
Learn(m) ==
    /\ forgot[m] /\ V5 /\ (hurries[m] \/ ~Stands(m))
    /\ \E set \in SUBSET {x \in Members \ {m} : ~forgot[x]} :
         LET top(f) == CHOOSE n \in {f[x] : x \in set} : \A x \in set : f[x] <= n
         IN /\ Majority(set)
            /\ promised' = [promised EXCEPT ![m] = top(promised)]
            /\ recorded' = [recorded EXCEPT ![m] = top(recorded)]
    /\ forgot' = [forgot EXCEPT ![m] = FALSE]
    /\ votes' = [v \in 1 .. Views |-> IF content[v] = None /\ ~hurries[m] THEN votes[v] \ {m} ELSE votes[v]]
    /\ backed' = IF Recent /\ ~hurries[m] THEN [l \in Members |-> [backed[l] EXCEPT ![m] = 0]] ELSE backed
    /\ UNCHANGED <<content, basis, told, adopted, tenure, speaks, active, high, floor, waits, waitsFor, granted, starts,
                   homes, last, wrong, budget>>

\* A leader wants to let in greater tickets: a member that has its view, and has promised no later one, records how far.
Record(l, m) ==
    /\ Tokens /\ tenure[l] > 0 /\ adopted[l] = adopted[m] /\ promised[m] = adopted[m] /\ Sound(m)
    /\ \E n \in IF Homes = {} THEN {1} ELSE {ticket[h] : h \in {g \in Homes : phase[g] = "ticketed"}} :
         /\ n > granted[l] /\ n > backed[l][m]
         /\ recorded' = [recorded EXCEPT ![m] = Max(@, n)]
         /\ backed' = [backed EXCEPT ![l][m] = n]
         /\ granted' = [granted EXCEPT ![l] = IF Majority({m} \cup {x \in Members : backed[l][x] >= n}) THEN n ELSE @]
    /\ UNCHANGED <<content, votes, basis, told, promised, adopted, forgot, tenure, speaks, active, high, floor, waits,
                   waitsFor, starts, homes, last, wrong, budget>>

-----------------------------------------------------------------------------
(* Homes *)

\* CONFIRMED: asked after all that stood before.  A silence does not wait for what is confirmed anew.
Confirm(h, m) ==
    /\ adopted[m] = view[h] /\ (view[h] > 0 \/ ~V2None) /\ (promised[m] = view[h] \/ ~V1) /\ Sound(m)
    /\ phase[h] \in {"entering", "ticketed", "holding"} \/ (phase[h] = "lost" /\ Reasserts) \/ Requests = 0
    /\ m \notin confirmed[h] \/ \E l \in Members : <<h, m>> \in waits[l]
    /\ confirmed' = [confirmed EXCEPT ![h] = @ \cup {m}]
    /\ waits' = [l \in Members |-> waits[l] \ {<<h, m>>}]
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, active, high, floor, waitsFor, starts, view, acks, phase,
                   entered, best, ticket, left, last, wrong, budget>>

\* So much time has passed since it was asked for: without a majority the lock is lost.
Lapse(h, m) ==
    LET kept == confirmed[h] \ {m}
        lost == V2 /\ phase[h] = "holding" /\ ~Majority(kept)
    IN /\ m \in confirmed[h]
       /\ confirmed' = [confirmed EXCEPT ![h] = kept]
       /\ waits' = [l \in Members |-> waits[l] \ {<<h, m>>}]
       /\ waitsFor' = IF lost THEN Outlived(h) ELSE waitsFor
       /\ phase' = [phase EXCEPT ![h] = IF lost THEN "lost" ELSE @]
       /\ UNCHANGED <<electors, backed, granted, tenure, speaks, active, high, floor, starts, view, acks, entered,
                      best, ticket, left, last, wrong, budget>>

\* It hears nothing of the life of a leader that it counts: in the course of time that is counted no more.
Forget(h, m) ==
    LET former == {a \in acks[h] : a[1] = m /\ tenure[m] \in {0, a[2]}}
        kept == acks[h] \ former
        lost == phase[h] = "holding" /\ ~Most(kept)
    IN /\ former # {} /\ active[m] # h /\ phase[h] # "lost"
       /\ waitsFor' = IF lost THEN Outlived(h) ELSE waitsFor
       /\ acks' = [acks EXCEPT ![h] = IF lost THEN @ ELSE kept]
       /\ phase' = [phase EXCEPT ![h] = IF lost THEN "lost" ELSE @]
       /\ UNCHANGED <<electors, backed, granted, tenure, speaks, active, high, floor, waits, starts, view, confirmed,
                      entered, best, ticket, left, last, wrong, budget>>

\* A view reaches a home.  Those who have no seat by it, or another one, are counted no more.  What members have
\* confirmed of earlier views stands until it lapses: it says that they had promised no later one.
Move(h, v) ==
    /\ content[v] # None /\ v > view[h]
    /\ LET kept == IF V4 THEN {a \in acks[h] : Since(v, a[1]) = a[2]} ELSE acks[h]
           lost == phase[h] = "holding" /\ ~Most(kept)
       IN /\ view' = [view EXCEPT ![h] = v]
          /\ waitsFor' = IF lost THEN Outlived(h) ELSE waitsFor
          /\ acks' = [acks EXCEPT ![h] = IF lost \/ phase[h] = "lost" THEN @ ELSE kept]
          /\ phase' = [phase EXCEPT ![h] = IF lost THEN "lost" ELSE @]
          /\ entered' = [entered EXCEPT ![h] = {m \in @ : Leads(v, m)}]
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, active, high, floor, waits, starts, confirmed, best,
                   ticket, left, last, wrong, budget>>

Enter(h) ==
    /\ phase[h] = "idle" /\ left[h] > 0
    /\ phase' = [phase EXCEPT ![h] = IF Tokens THEN "entering" ELSE "ticketed"]
    /\ left' = [left EXCEPT ![h] = @ - 1]
    /\ UNCHANGED <<electors, leaders, view, confirmed, acks, entered, best, ticket, last, wrong, budget>>

\* ENTERED of a leader of its view; that of the majority gives it a ticket.
Entered(h, m) ==
    /\ phase[h] = "entering" /\ m \notin entered[h] /\ speaks[m]
    /\ tenure[m] > 0 /\ Since(view[h], m) = tenure[m]
    /\ LET all == entered[h] \cup {m}
           most == Max(best[h], high[m])
       IN /\ best' = [best EXCEPT ![h] = most]
          /\ entered' = [entered EXCEPT ![h] = IF Most(all) THEN {} ELSE all]
          /\ phase' = [phase EXCEPT ![h] = IF Most(all) THEN "ticketed" ELSE @]
          /\ ticket' = [ticket EXCEPT ![h] = IF Most(all) THEN most + 1 ELSE @]
    /\ UNCHANGED <<electors, leaders, view, confirmed, acks, left, last, wrong, budget>>

\* ACTIVATED, said and counted in a step: what Activation says of links holds here too.  A majority lets it hold.
Activate(m, h) ==
    /\ phase[h] \in {"ticketed", "holding"} /\ speaks[m] /\ tenure[m] > 0
    /\ active[m] \in {Nobody, h} /\ <<m, tenure[m]>> \notin acks[h]
    /\ Leased(h) /\ (~V4 \/ Since(view[h], m) = tenure[m])
    /\ Tokens => /\ phase[h] = "ticketed" => ticket[h] > floor[m]
                 /\ ticket[h] <= granted[m]
    /\ LET all == acks[h] \cup {<<m, tenure[m]>>}
           holds == phase[h] = "ticketed" /\ Most(all)
       IN /\ active' = [active EXCEPT ![m] = h]
          /\ high' = [high EXCEPT ![m] = Max(@, ticket[h])]
          /\ acks' = [acks EXCEPT ![h] = all]
          /\ phase' = [phase EXCEPT ![h] = IF holds THEN "holding" ELSE @]
          /\ last' = IF holds THEN ticket[h] ELSE last
          /\ wrong' = IF holds /\ Tokens /\ ticket[h] <= last THEN "a token that does not rise" ELSE wrong
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, floor, waits, waitsFor, starts, view, confirmed, entered,
                   best, ticket, left, budget>>

\* Who has lost the majority, and whose client does not know that yet, asserts the lock at a leader that is silent.
Reassert(m, h) ==
    /\ Reasserts /\ phase[h] = "lost" /\ tenure[m] > 0 /\ ~speaks[m] /\ (waits[m] = {} \/ ~Closed)
    /\ active[m] \in {Nobody, h} /\ Leased(h) /\ Since(view[h], m) = tenure[m]
    /\ LET all == {a \in acks[h] : Since(view[h], a[1]) = a[2]} \cup {<<m, tenure[m]>>}
       IN /\ active' = [active EXCEPT ![m] = h]
          /\ acks' = [acks EXCEPT ![h] = all]
          /\ phase' = [phase EXCEPT ![h] = IF Most(all) THEN "holding" ELSE @]
    /\ waitsFor' = [waitsFor EXCEPT ![m] = @ \ {h}]
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, high, floor, waits, starts, view, confirmed, entered,
                   best, ticket, left, last, wrong, budget>>

\* UNLOCK; the client gives up; it has heard that the lock is lost; or its ticket comes too late, and it gives up.
Leave(h) ==
    /\ phase[h] \in {"ticketed", "holding", "lost"}
    /\ phase' = [phase EXCEPT ![h] = "idle"]
    /\ acks' = [acks EXCEPT ![h] = {}]
    /\ entered' = [entered EXCEPT ![h] = {}]
    /\ best' = [best EXCEPT ![h] = 0]
    /\ ticket' = [ticket EXCEPT ![h] = 0]
    /\ confirmed' = [confirmed EXCEPT ![h] = IF left[h] = 0 THEN {} ELSE @] \* of no use any more
    /\ waits' = [l \in Members |-> IF left[h] = 0 THEN {w \in waits[l] : w[1] # h} ELSE waits[l]]
    /\ waitsFor' = [l \in Members |-> waitsFor[l] \ {h}]
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, active, high, floor, starts, view, left, last, wrong,
                   budget>>

\* A silence does not wait for whoever holds by what was confirmed after it began.
Outlast(l, h) ==
    /\ h \in waitsFor[l] /\ phase[h] = "holding" /\ \A m \in Members : <<h, m>> \notin waits[l]
    /\ waitsFor' = [waitsFor EXCEPT ![l] = @ \ {h}]
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, active, high, floor, waits, starts, homes, last, wrong,
                   budget>>

\* The leader hears that it is over, or has not heard its home for so long that nobody counts it.
Clear(m) ==
    /\ active[m] # Nobody /\ <<m, tenure[m]>> \notin acks[active[m]] /\ phase[active[m]] # "lost"
    /\ active' = [active EXCEPT ![m] = Nobody]
    /\ carried' = [carried EXCEPT ![m] = 0]
    /\ floor' = [floor EXCEPT ![m] = high[m]]
    /\ UNCHANGED <<electors, backed, granted, tenure, speaks, high, waits, waitsFor, opened, short, copy, hurries,
                   homes, last, wrong, budget>>

Next ==
    \/ \E m \in Members, v \in 1 .. Views : Vote(m, v) \/ Adopt(m, v)
    \/ \E v \in 1 .. Views : Elect(v)
    \/ \E m \in Members : Speak(m) \/ Learn(m) \/ Clear(m)
    \/ \E m \in Members : Start(m) \/ StartAgain(m) \/ End(m) \/ Lose(m) \/ Copy(m) \/ PutBack(m)
    \/ \E l, m \in Members : Record(l, m)
    \/ \E h \in Homes, m \in Members : Confirm(h, m) \/ Lapse(h, m) \/ Forget(h, m) \/ Entered(h, m)
    \/ \E h \in Homes, m \in Members : Activate(m, h) \/ Reassert(m, h) \/ Outlast(m, h)
    \/ \E h \in Homes, v \in 1 .. Views : Move(h, v)
    \/ \E h \in Homes : Enter(h) \/ Leave(h)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must be true *)

Exclusion == \A g, h \in Homes : Believes(g) /\ Believes(h) => g = h
TokensRise == wrong = ""

\* While a home counts by a view, nobody speaks who has got a seat by a later one.
OneSetOfLeaders ==
    \A h \in Homes, m \in Members :
        (Majority(confirmed[h]) /\ tenure[m] > view[h]) => ~speaks[m]

\* Whoever counts the votes for the next view hears of all that a leader may let in.
Bounded ==
    \A l \in Members :
        granted[l] > 0 => Majority({m \in Members : recorded[m] >= granted[l] \/ (forgot[m] /\ V5)})

\* Nobody has a seat and lets somebody in by an earlier one.
Emptied == \A m \in Members : carried[m] \in {0, tenure[m]}

Symmetry == Permutations(Members) \cup Permutations(Homes)
=============================================================================
