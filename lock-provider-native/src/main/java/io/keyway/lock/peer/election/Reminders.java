// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Promised;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What others have told a member of what they have promised, which has no record itself. */
final class Reminders {
    private final TreeMap<String, Promised> answers = new TreeMap<>();
    /** Who was missing, as the log said last; empty before. */
    private Set<String> told = Set.of();

    void put(String member, Promised answer) {
        answers.put(member, answer);
    }

    void remove(String member) {
        answers.remove(member);
    }

    /** The latest view that one of them knows. */
    View latest() {
        View latest = View.NONE;
        for (Promised each : answers.values()) {
            latest = latest.id().compareTo(each.adopted().id()) < 0 ? each.adopted() : latest;
        }
        return latest;
    }

    /** The latest view that one of them has promised, or that one, if it is later. */
    ViewId promised(ViewId own) {
        ViewId promised = own;
        for (Promised each : answers.values()) {
            promised = ViewId.later(promised, each.promised());
        }
        return promised;
    }

    /** What holds of that bound, and of all that they have recorded. */
    long recorded(long own, Bounds bounds) {
        long recorded = own;
        for (Promised each : answers.values()) {
            recorded = bounds.covering(recorded, each.recorded());
        }
        return recorded;
    }

    /** The lists that may count: that of the latest view, and those for which one of them has voted since. */
    Set<List<String>> lists(List<String> ofLatest) {
        Set<List<String>> lists = new LinkedHashSet<>();
        lists.add(ofLatest);
        for (Promised each : answers.values()) {
            lists.addAll(each.open());
        }
        return lists;
    }

    /**
     * Whether enough have answered: majorities of others that have forgotten nothing, or all others of the latest view.
     * If not, the log says who is missing.
     */
    boolean areEnough(String self, List<String> ofLatest, Turn turn) {
        Set<String> sound = new TreeSet<>();
        for (Map.Entry<String, Promised> each : answers.entrySet()) {
            if (each.getValue().sound()) {
                sound.add(each.getKey());
            }
        }
        Set<String> others = new TreeSet<>(ofLatest);
        others.remove(self);
        others.removeAll(answers.keySet());
        boolean enough = others.isEmpty() || MemberLists.areMajorities(sound, lists(ofLatest));
        if (!enough && !others.equals(told)) {
            told = others;
            turn.tell(new Forgotten(List.copyOf(others)));
        }
        return enough;
    }

    Reminders copy() {
        Reminders copy = new Reminders();
        copy.answers.putAll(answers);
        copy.told = told;
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(answers).value(told);
    }
}
