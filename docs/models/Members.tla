------------------------------ MODULE Members -------------------------------
(***************************************************************************)
(* How the list of members changes while the cluster works.                *)
(*                                                                         *)
(* A view has the list of the members by which it counts, beside its       *)
(* leaders, which are left out here.  Whoever wants another list asks for  *)
(* votes for a view that has it.  A view counts while a majority of its    *)
(* own list confirms it.                                                   *)
(*                                                                         *)
(* What must never be: that a view may still come to count when a later    *)
(* one is elected.  A leader that gets a seat waits for a lease, and what  *)
(* was confirmed before is over by then; what can be confirmed afterwards  *)
(* is not.                                                                 *)
(*                                                                         *)
(* Links may take for ever, and messages come in any order.  What members  *)
(* have promised is on their disks, so that a restart changes nothing; the *)
(* loss of a file is the business of Views (V5).                           *)
(*                                                                         *)
(* Each rule is a constant.  With V1 or J2 FALSE the model must be found   *)
(* wrong.  J1 is there so that a list comes to count at all: without it    *)
(* members could be elected that are not there.  Single is not needed.     *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Members,    \* a set of model values: all that are a member at some time
    First,      \* the list that the cluster begins with
    Views,      \* how many views there are, the first one included
    V1,         \* who has voted for a view confirms no older one, and votes for none
    J1,         \* a view needs a majority of the list that it takes the place of, and of its own
    J2,         \* and of each list that a voter has voted for and has not seen decided
    Single      \* a list differs from the one before by one member at the most

VARIABLES
    list,       \* [1..Views -> SUBSET Members]: the list that a view has, or is to have; {} before somebody wants it
    base,       \* [1..Views -> Nat]: the view that it takes the place of
    elected,    \* SUBSET 1..Views
    votes,      \* [1..Views -> SUBSET Members]
    named,      \* [1..Views -> SUBSET SUBSET Members]: the lists that its voters have named
    latest,     \* [1..Views -> Nat]: the latest view that one of its voters had adopted
    promised,   \* [Members -> Nat]: on disk
    adopted,    \* [Members -> Nat]: on disk
    open        \* [Members -> SUBSET SUBSET Members]: what it has voted for since it adopted a view; on disk

vars == <<list, base, elected, votes, named, latest, promised, adopted, open>>

Majority(set, all) == 2 * Cardinality(set \cap all) > Cardinality(all)
Max(a, b) == IF a > b THEN a ELSE b

Init ==
    /\ list = [v \in 1 .. Views |-> IF v = 1 THEN First ELSE {}]
    /\ base = [v \in 1 .. Views |-> 0]
    /\ elected = {1}
    /\ votes = [v \in 1 .. Views |-> IF v = 1 THEN First ELSE {}]
    /\ named = [v \in 1 .. Views |-> {}]
    /\ latest = [v \in 1 .. Views |-> 0]
    /\ promised = [m \in Members |-> IF m \in First THEN 1 ELSE 0]
    /\ adopted = [m \in Members |-> IF m \in First THEN 1 ELSE 0]
    /\ open = [m \in Members |-> {}]

\* The votes of member m for view v.  It says what it has adopted, and for which lists it has voted since.
Cast(m, v, wanted) ==
    /\ promised' = [promised EXCEPT ![m] = IF V1 THEN v ELSE @]
    /\ votes' = [votes EXCEPT ![v] = @ \cup {m}]
    /\ named' = [named EXCEPT ![v] = @ \cup open[m]]
    /\ latest' = [latest EXCEPT ![v] = Max(@, adopted[m])]
    /\ open' = [open EXCEPT ![m] = @ \cup {wanted}]

MayVote(m, v) == v > promised[m] \/ (~V1 /\ v > adopted[m])

\* A member of the latest list that it knows wants a view with that list or another one.
Propose(m, v, wanted) ==
    /\ list[v] = {} /\ adopted[m] > 0 /\ m \in list[adopted[m]] /\ MayVote(m, v) /\ wanted # {}
    /\ LET now == list[adopted[m]]
       IN Single => Cardinality((wanted \ now) \cup (now \ wanted)) <= 1
    /\ list' = [list EXCEPT ![v] = wanted]
    /\ base' = [base EXCEPT ![v] = adopted[m]]
    /\ Cast(m, v, wanted)
    /\ UNCHANGED <<elected, adopted>>

\* VOTE
Vote(m, v) ==
    /\ list[v] # {} /\ v \notin elected /\ m \notin votes[v] /\ MayVote(m, v)
    /\ Cast(m, v, list[v])
    /\ UNCHANGED <<list, base, elected, adopted>>

\* LEADERS.  Whoever finds among the votes that another view was elected meanwhile begins anew.
Elect(v) ==
    /\ list[v] # {} /\ v \notin elected /\ latest[v] = base[v]
    /\ Majority(votes[v], list[base[v]])
    /\ J1 => Majority(votes[v], list[v])
    /\ J2 => \A each \in named[v] : Majority(votes[v], each)
    /\ elected' = elected \cup {v}
    /\ UNCHANGED <<list, base, votes, named, latest, promised, adopted, open>>

\* LEADERS reaches a member.
Adopt(m, v) ==
    /\ v \in elected /\ v > adopted[m] /\ (v >= promised[m] \/ ~V1)
    /\ adopted' = [adopted EXCEPT ![m] = v]
    /\ promised' = [promised EXCEPT ![m] = Max(@, v)]
    /\ open' = [open EXCEPT ![m] = {}]
    /\ UNCHANGED <<list, base, elected, votes, named, latest>>

Next ==
    \/ \E m \in Members, v \in 2 .. Views, wanted \in SUBSET Members : Propose(m, v, wanted)
    \/ \E m \in Members, v \in 2 .. Views : Vote(m, v) \/ Adopt(m, v)
    \/ \E v \in 2 .. Views : Elect(v)

Spec == Init /\ [][Next]_vars

\* Who may still confirm a view, now or later.
MayConfirm(v) == {m \in list[v] : promised[m] <= v}

OneCounts == \A v, w \in elected : v < w => ~Majority(MayConfirm(v), list[v])

Symmetry == Permutations(Members \ First) \cup Permutations(First)
=============================================================================
