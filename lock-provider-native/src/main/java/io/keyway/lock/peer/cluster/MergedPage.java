// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** One page of names, put together from those of all authorities. */
final class MergedPage {
    private final Key key;
    private final LockCall.ListNames question;
    private final List<LockMessage.Page> pages = new ArrayList<>();
    /** Why authorities gave no answer, each reason once. */
    private final Set<String> silent = new TreeSet<>();

    private int missing;

    /**
     * @param key whom the question was for
     * @param authorities how many answers make it whole
     */
    MergedPage(Key key, LockCall.ListNames question, int authorities) {
        this.key = key;
        this.question = question;
        this.missing = authorities;
    }

    /** Takes the page of one authority. */
    void add(LockMessage.Page page) {
        pages.add(page);
        missing--;
    }

    /** One authority gives no answer; {@code why} names its member. */
    void silent(String why) {
        silent.add(why);
        missing--;
    }

    /** There are more authorities than were asked. */
    void incomplete(String why) {
        silent.add(why);
    }

    /** Nobody is left to be waited for. */
    boolean complete() {
        return missing == 0;
    }

    /** What is to be told of it: the whole, a part of it, or that nobody answered. */
    LockNotice result() {
        if (pages.isEmpty()) {
            return new LockNotice.Failed(key, question.request(), String.join("; ", silent), null);
        }
        LockMessage.Page page = whole();
        return new LockNotice.Told(key, page, List.copyOf(silent));
    }

    private LockMessage.Page whole() {
        TreeSet<String> names = new TreeSet<>();
        boolean more = false;
        String known = null; // up to here every authority has told its names
        for (LockMessage.Page page : pages) {
            names.addAll(page.names());
            if (page.more()) {
                more = true;
                String last = page.names().isEmpty()
                        ? question.after()
                        : page.names().get(page.names().size() - 1);
                known = known == null || last.compareTo(known) < 0 ? last : known;
            }
        }
        List<String> merged = new ArrayList<>(known == null ? names : names.headSet(known, true));
        if (merged.size() > question.max()) {
            merged = merged.subList(0, question.max());
            more = true;
        }
        return new LockMessage.Page(key, question.request(), List.copyOf(merged), more);
    }
}
