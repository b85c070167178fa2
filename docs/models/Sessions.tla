------------------------------ MODULE Sessions ------------------------------
(***************************************************************************)
(* How one member takes over from another that has granted locks, and what *)
(* it has to wait for.  One lock stands for all of one shard.              *)
(*                                                                         *)
(* Members elect views, one after the other; a view says who leads.  That  *)
(* a majority votes for it and confirms no earlier one is Views' (V1, V2), *)
(* and how a list of members changes is Members'.  A leader serves while a *)
(* majority confirms its view to it: its lease.  A client has a session    *)
(* with one leader at a time.  Before it may hold anything, a majority of  *)
(* the members has noted it, in memory.  A new leader takes these notes    *)
(* from a majority, waits for each client in them to move to it and to     *)
(* claim what it holds, or to be surely over, and for nothing else.        *)
(*                                                                         *)
(* Time is abstract.  A lease and a belief may lapse at any moment, and    *)
(* whoever waits for one of them sees that it has.  A leader ends a grant  *)
(* only when its client does not believe in it any more by that leader's   *)
(* word: that belief ends first is the protocol's.                         *)
(*                                                                         *)
(* Each rule is a constant; with one of them FALSE the model must be found *)
(* wrong.                                                                  *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Members,    \* a set of model values
    First,      \* those of them that are members at first
    Clients,    \* a set of model values
    Views,      \* how many views there are
    Long,       \* a quarter of each ttl is longer than a lease of a leader
    Starts,     \* how many times members end and start again, and have lost their notes
    Losses,     \* how many times a member starts without its directory
    Copies,     \* how many times with a copy of it
    Changes,    \* how many times one member is added to the list, or removed
    HandOvers,  \* how many times a leader hands over to the next one
    Drops,      \* how many times a leader drops a note
    Recorded,   \* a client holds nothing before a majority has noted it
    Itself,     \* the note of a leader itself counts only while it follows no later leader
    Stops,      \* a member that follows a later leader notes nothing for a former one
    Completes,  \* a member that has started again has no notes, and says so, until a leader has given it all of its own
    Waits,      \* a leader waits for the clients in the notes that it has taken
    Monotone,   \* a client goes to later leaders alone
    Claims,     \* a leader confirms claims when no former leader serves, or by the time that a client has left
    Leased,     \* a leader serves while its lease lasts
    Learns,     \* a member that has lost what it promised follows nobody before it has learned it from a majority
    Altered,    \* a copy of a directory counts as lost
    Settled     \* the list changes only when a leader is open and a majority has noted all that it has noted

VARIABLES
    top,        \* the latest view
    list,       \* SUBSET Members: by whom is counted
    leader,     \* [1..Views -> Members \cup {Nobody}]
    promised,   \* [Members -> 0..Views]: on disk
    forgot,     \* [Members -> BOOLEAN]: it has lost what it promised
    alive,      \* [1..Views -> BOOLEAN]: the life of the member that leads in that view runs, and has not handed over
    serves,     \* [1..Views -> BOOLEAN]: its lease lasts
    stage,      \* [1..Views -> {"none", "takes", "waits", "all", "open"}]
    from,       \* [1..Views -> SUBSET Members]: whose notes it has taken
    set,        \* [1..Views -> SUBSET Clients]: all that it has taken, or noted itself
    awaits,     \* [1..Views -> SUBSET Clients]
    came,       \* [1..Views -> SUBSET Clients]: who has moved to it
    table,      \* [1..Views -> Clients \cup {Nobody}]: who holds the lock, as it knows
    imports,    \* [1..Views -> SUBSET 1..Views]: by whose word a holder may believe that it has not heard of
    acked,      \* [1..Views -> SUBSET (Members \X Clients)]: whom members have said that they have noted
    complete,   \* [Members -> BOOLEAN]: a member has all notes that it ever had
    notes,      \* [Members -> SUBSET Clients]
    at,         \* [Clients -> 0..Views]: with whom a client has a session
    by,         \* [Clients -> 0..Views]: by whose word it believes that it holds the lock; 0 if it does not
    last,       \* the view of the latest grant
    wrong,
    budget

leaders == <<alive, serves, stage, from, set, awaits, came, table, imports, acked>>
vars == <<top, list, leader, promised, forgot, leaders, complete, notes, at, by, last, wrong, budget>>

Nobody == "nobody"
Majority(s) == 2 * Cardinality(s \cap list) > Cardinality(list)
V == 1 .. Views
Max(s) == CHOOSE x \in s : \A y \in s : y <= x
Differ(a, b) == Cardinality((a \ b) \cup (b \ a)) = 1

Init ==
    /\ top = 0
    /\ list = First
    /\ leader = [v \in V |-> Nobody]
    /\ promised = [m \in Members |-> 0]
    /\ forgot = [m \in Members |-> FALSE]
    /\ alive = [v \in V |-> FALSE]
    /\ serves = [v \in V |-> FALSE]
    /\ stage = [v \in V |-> "none"]
    /\ from = [v \in V |-> {}]
    /\ set = [v \in V |-> {}]
    /\ awaits = [v \in V |-> {}]
    /\ came = [v \in V |-> {}]
    /\ table = [v \in V |-> Nobody]
    /\ imports = [v \in V |-> {}]
    /\ acked = [v \in V |-> {}]
    /\ complete = [m \in Members |-> m \in First]
    /\ notes = [m \in Members |-> {}]
    /\ at = [c \in Clients |-> 0]
    /\ by = [c \in Clients |-> 0]
    /\ last = 0
    /\ wrong = FALSE
    /\ budget = [starts |-> Starts, losses |-> Losses, copies |-> Copies, changes |-> Changes, hands |-> HandOvers,
                 drops |-> Drops]

-----------------------------------------------------------------------------
(* Members *)

Sound(m) == ~forgot[m] \/ ~Learns

\* A majority votes for the next view, in which one of the voters leads.
Elect(m, q) ==
    /\ top < Views /\ Majority(q) /\ q \subseteq list /\ m \in q /\ \A x \in q : Sound(x)
    /\ LET v == top + 1 IN
       /\ top' = v
       /\ leader' = [leader EXCEPT ![v] = m]
       /\ promised' = [x \in Members |-> IF x \in q THEN v ELSE promised[x]]
       /\ alive' = [alive EXCEPT ![v] = TRUE]
       /\ serves' = [serves EXCEPT ![v] = TRUE]
       /\ stage' = [stage EXCEPT ![v] = IF v = 1 THEN "open" ELSE "takes"]
    /\ UNCHANGED <<list, forgot, from, set, awaits, came, table, imports, acked, complete, notes, at, by, last, wrong,
                   budget>>

\* The lease of a former leader lapses: a majority confirms it no more.
Lapse(v) ==
    /\ v < top /\ serves[v] /\ serves' = [serves EXCEPT ![v] = FALSE]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, stage, from, set, awaits, came, table, imports, acked,
                   complete, notes, at, by, last, wrong, budget>>

\* A member ends, and starts again: what it noted is lost, and it leads no more.
Ends(m) ==
    /\ alive' = [v \in V |-> alive[v] /\ leader[v] # m]
    /\ serves' = [v \in V |-> serves[v] /\ leader[v] # m]
    /\ complete' = [complete EXCEPT ![m] = ~Completes]
    /\ notes' = [notes EXCEPT ![m] = {}]
    /\ UNCHANGED <<top, list, leader, stage, from, set, awaits, came, table, imports, acked, at, by, last, wrong>>

Start(m) ==
    /\ budget.starts > 0 /\ budget' = [budget EXCEPT !.starts = @ - 1]
    /\ Ends(m) /\ UNCHANGED <<promised, forgot>>

\* It starts without its directory.
Lose(m) ==
    /\ budget.losses > 0 /\ budget' = [budget EXCEPT !.losses = @ - 1]
    /\ Ends(m)
    /\ promised' = [promised EXCEPT ![m] = 0]
    /\ forgot' = [forgot EXCEPT ![m] = TRUE]

\* It starts with a copy of any age.
PutBack(m) ==
    /\ budget.copies > 0 /\ budget' = [budget EXCEPT !.copies = @ - 1]
    /\ Ends(m)
    /\ \E old \in 0 .. promised[m] : promised' = [promised EXCEPT ![m] = IF Altered THEN 0 ELSE old]
    /\ forgot' = [forgot EXCEPT ![m] = Altered]

\* It learns from a majority of the list, all of them others.
Learn(m) ==
    /\ forgot[m]
    /\ \E q \in SUBSET (list \ {m}) :
          /\ Majority(q) /\ \A x \in q : ~forgot[x]
          /\ promised' = [promised EXCEPT ![m] = Max({promised[x] : x \in q})]
    /\ forgot' = [forgot EXCEPT ![m] = FALSE]
    /\ UNCHANGED <<top, list, leader, leaders, complete, notes, at, by, last, wrong, budget>>

-----------------------------------------------------------------------------
(* Leaders *)

Serves(v) == alive[v] /\ (serves[v] \/ ~Leased)
Former(v) == {u \in 1 .. v - 1 : alive[u] /\ serves[u]}
Notes(v) == stage[v] \in {"waits", "open"}

\* Whoever hears of a leader follows it, unless it follows a later one.
Follows(v, m) == Sound(m) /\ (promised[m] <= v \/ ~Stops \/ (m = leader[v] /\ ~Itself))
Hears(v, m) == [promised EXCEPT ![m] = IF @ < v THEN v ELSE @]

\* It takes the notes of a member that follows it; those of a majority are enough.
Take(v, m) ==
    /\ alive[v] /\ stage[v] = "takes" /\ m \in list \ from[v]
    /\ Sound(m) /\ promised[m] <= v /\ complete[m]
    /\ promised' = IF Stops THEN Hears(v, m) ELSE promised
    /\ LET now == from[v] \cup {m}
           taken == set[v] \cup notes[m]
           done == Majority(now)
       IN /\ from' = [from EXCEPT ![v] = now]
          /\ set' = [set EXCEPT ![v] = taken]
          /\ acked' = [acked EXCEPT ![v] = @ \cup {<<m, c>> : c \in notes[m]}]
          /\ stage' = [stage EXCEPT ![v] = IF done THEN "waits" ELSE @]
          /\ awaits' = [awaits EXCEPT ![v] = IF done /\ Waits THEN taken ELSE @]
    /\ UNCHANGED <<top, list, leader, forgot, alive, serves, came, table, imports, complete, notes, at, by, last, wrong,
                   budget>>

\* Too many have lost their notes: it waits for everybody, and gives its notes to nobody before it is open.
WaitForAll(v) ==
    /\ alive[v] /\ stage[v] = "takes"
    /\ stage' = [stage EXCEPT ![v] = "all"]
    /\ set' = [set EXCEPT ![v] = {}]
    /\ acked' = [acked EXCEPT ![v] = {}]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, from, awaits, came, table, imports, complete,
                   notes, at, by, last, wrong, budget>>

\* It gives a member all its notes.
Sync(v, m) ==
    /\ alive[v] /\ Notes(v) /\ Follows(v, m)
    /\ ~complete[m] \/ \E c \in set[v] : <<m, c>> \notin acked[v]
    /\ complete' = [complete EXCEPT ![m] = TRUE]
    /\ notes' = [notes EXCEPT ![m] = set[v]]
    /\ acked' = [acked EXCEPT ![v] = @ \cup {<<m, c>> : c \in set[v]}]
    /\ promised' = Hears(v, m)
    /\ UNCHANGED <<top, list, leader, forgot, alive, serves, stage, from, set, awaits, came, table, imports, at, by,
                   last, wrong, budget>>

\* A member notes a client that has come.
Note(v, m, c) ==
    /\ alive[v] /\ Notes(v) /\ c \in came[v] /\ Follows(v, m) /\ <<m, c>> \notin acked[v]
    /\ notes' = [notes EXCEPT ![m] = @ \cup {c}]
    /\ set' = [set EXCEPT ![v] = @ \cup {c}]
    /\ acked' = [acked EXCEPT ![v] = @ \cup {<<m, c>>}]
    /\ promised' = Hears(v, m)
    /\ UNCHANGED <<top, list, leader, forgot, alive, serves, stage, from, awaits, came, table, imports, complete, at,
                   by, last, wrong, budget>>

\* What the leader knows of that: it does not hear at once that a member has forgotten.
IsNoted(v, c) == Majority({m \in Members : <<m, c>> \in acked[v]})

Believes(c, v) == by[c] \notin {0, v}

\* It needs the note of a client no more, which holds nothing here; and then, in the order in which it says both, a
\* member forgets it.
Drop(v, c) ==
    /\ budget.drops > 0 /\ budget' = [budget EXCEPT !.drops = @ - 1]
    /\ alive[v] /\ stage[v] = "open" /\ c \in set[v] /\ table[v] # c
    /\ set' = [set EXCEPT ![v] = @ \ {c}]
    /\ acked' = [acked EXCEPT ![v] = @ \ (Members \X {c})]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, stage, from, awaits, came, table, imports,
                   complete, notes, at, by, last, wrong>>

Forget(v, m, c) ==
    /\ Drops > 0 /\ alive[v] /\ stage[v] = "open" /\ Follows(v, m)
    /\ c \in notes[m] /\ <<m, c>> \notin acked[v] /\ c \notin set[v]
    /\ notes' = [notes EXCEPT ![m] = @ \ {c}]
    /\ promised' = Hears(v, m)
    /\ UNCHANGED <<top, list, leader, forgot, leaders, complete, at, by, last, wrong, budget>>

\* A client has moved here and all its claims are known; or it is surely over.
Settle(v, c) ==
    /\ alive[v] /\ stage[v] = "waits" /\ c \in awaits[v]
    /\ c \in came[v] \/ Former(v) = {}
    /\ ~Believes(c, v)
    /\ awaits' = [awaits EXCEPT ![v] = @ \ {c}]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, stage, from, set, came, table, imports, acked,
                   complete, notes, at, by, last, wrong, budget>>

Open(v) ==
    /\ alive[v]
    /\ \/ stage[v] = "waits" /\ awaits[v] = {}
       \/ stage[v] = "all" /\ Former(v) = {} /\ \A c \in Clients : ~Believes(c, v)
    /\ stage' = [stage EXCEPT ![v] = "open"]
    /\ set' = [set EXCEPT ![v] = @ \cup came[v]]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, from, awaits, came, table, imports, acked,
                   complete, notes, at, by, last, wrong, budget>>

Grants(v, c) ==
    /\ table' = [table EXCEPT ![v] = c]
    /\ imports' = [imports EXCEPT ![v] = {}]
    /\ by' = [by EXCEPT ![c] = v]

\* It grants the lock.
Grant(v, c) ==
    /\ Serves(v) /\ stage[v] = "open" /\ table[v] = Nobody /\ at[c] = v /\ by[c] = 0
    /\ IsNoted(v, c) \/ ~Recorded
    /\ Grants(v, c)
    /\ last' = v
    /\ wrong' = (wrong \/ v < last)
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, stage, from, set, awaits, came, acked, complete,
                   notes, at, budget>>

\* It confirms what a client claims that has moved to it.
Claim(v, c) ==
    /\ Serves(v) /\ stage[v] \in {"waits", "all", "open"} /\ at[c] = v /\ Believes(c, v)
    /\ table[v] = c \/ (table[v] = Nobody /\ stage[v] # "open")
    /\ table[v] = c \/ Long \/ Former(v) = {} \/ ~Claims
    /\ Grants(v, c)
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, stage, from, set, awaits, came, acked, complete,
                   notes, at, last, wrong, budget>>

\* It does not hear its holder any more, for so long that nobody believes by its word.  A client that takes a belief
\* with it was heard lately: where ttls are long, the lease is over before.
Expire(v) ==
    /\ alive[v] /\ table[v] # Nobody /\ by[table[v]] \notin imports[v] \cup {v}
    /\ ~Long \/ by[table[v]] = 0 \/ ~serves[v] \/ ~Claims
    /\ table' = [table EXCEPT ![v] = Nobody]
    /\ imports' = [imports EXCEPT ![v] = {}]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, stage, from, set, awaits, came, acked, complete,
                   notes, at, by, last, wrong, budget>>

\* A leader that hears of the next one hands over to it, and leads no more.
HandOver(u, v) ==
    /\ budget.hands > 0 /\ budget' = [budget EXCEPT !.hands = @ - 1]
    /\ v = u + 1 /\ Serves(u) /\ stage[u] = "open" /\ alive[v] /\ stage[v] = "takes" /\ Sound(leader[v])
    /\ alive' = [alive EXCEPT ![u] = FALSE]
    /\ serves' = [serves EXCEPT ![u] = FALSE]
    /\ promised' = Hears(v, leader[u])
    /\ stage' = [stage EXCEPT ![v] = "open"]
    /\ set' = [set EXCEPT ![v] = set[u]]
    /\ table' = [table EXCEPT ![v] = table[u]]
    /\ imports' = [imports EXCEPT ![v] = IF table[u] = Nobody THEN {} ELSE imports[u] \cup {u}]
    /\ acked' = [acked EXCEPT ![v] = acked[u]]
    /\ UNCHANGED <<top, list, leader, forgot, from, awaits, came, complete, notes, at, by, last, wrong>>

\* The leader has a member added or removed, which may be itself: then it leads until another one is elected.
Change(v, l) ==
    /\ budget.changes > 0 /\ budget' = [budget EXCEPT !.changes = @ - 1]
    /\ v = top /\ Differ(l, list) /\ l # {}
    /\ Majority({m \in Members : Sound(m) /\ promised[m] <= v})
    /\ Settled => /\ alive[v] /\ stage[v] = "open" /\ leader[v] \in l
                  /\ \A c \in set[v] : IsNoted(v, c)
    /\ list' = l
    /\ UNCHANGED <<top, leader, promised, forgot, leaders, complete, notes, at, by, last, wrong>>

-----------------------------------------------------------------------------
(* Clients *)

\* A client opens a session with a leader: what it still hears of a former one belongs to nobody.
Come(c, v) ==
    /\ Serves(v) /\ at[c] # v /\ (Monotone => v > at[c])
    /\ at' = [at EXCEPT ![c] = v]
    /\ came' = [came EXCEPT ![v] = @ \cup {c}]
    /\ UNCHANGED <<top, list, leader, promised, forgot, alive, serves, stage, from, set, awaits, table, imports, acked,
                   complete, notes, by, last, wrong, budget>>

\* It releases the lock, or hears nothing for so long that it believes no more.
LoseBelief(c) ==
    /\ by[c] # 0 /\ by' = [by EXCEPT ![c] = 0]
    /\ UNCHANGED <<top, list, leader, promised, forgot, leaders, complete, notes, at, last, wrong, budget>>

Next ==
    \/ \E m \in Members, q \in SUBSET Members : Elect(m, q)
    \/ \E m \in Members : Start(m) \/ Lose(m) \/ PutBack(m) \/ Learn(m)
    \/ \E v \in V : Lapse(v) \/ WaitForAll(v) \/ Open(v) \/ Expire(v)
    \/ \E v \in V, m \in Members : Take(v, m) \/ Sync(v, m)
    \/ \E v \in V, m \in Members, c \in Clients : Note(v, m, c) \/ Forget(v, m, c)
    \/ \E v \in V, c \in Clients : Settle(v, c) \/ Grant(v, c) \/ Claim(v, c) \/ Come(c, v) \/ Drop(v, c)
    \/ \E u, v \in V : HandOver(u, v)
    \/ \E v \in V, l \in SUBSET Members : Change(v, l)
    \/ \E c \in Clients : LoseBelief(c)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must be true *)

Exclusion == \A c, d \in Clients : by[c] # 0 /\ by[d] # 0 => c = d
TokensRise == ~wrong

(* What must be found, so that the good paths are known to be there *)

OpensEarly == \A v \in V : v > 1 /\ stage[v] = "open" /\ from[v] # {} => Former(v) = {}
ClaimsEarly == \A v \in V : stage[v] = "waits" /\ table[v] # Nobody => Former(v) = {}

Symmetry == Permutations(Members) \cup Permutations(Clients)
=============================================================================
