// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import java.util.List;

/**
 * What a rule makes of a row.
 *
 * @param row as it is after the step
 * @param answer what the verb returns. The grant of an {@code Attempt.Granted} is read from the row once it is written,
 *     when it has its token
 * @param heard the entries that go on, or begin, because their client was heard of
 * @param notices who is to be told of what, when the row is written; at once if nothing is written
 * @param writes whether the step changes the row
 * @param renews whether it changes nothing but when its waiters were heard of
 */
record Step<A>(Row row, A answer, List<Entry> heard, List<Notice> notices, boolean writes, boolean renews) {

    /** One that changes the row, if {@code writes}. */
    Step(Row row, A answer, List<Entry> heard, List<Notice> notices, boolean writes) {
        this(row, answer, heard, notices, writes, false);
    }

    /** One that changes the row. */
    Step(Row row, A answer, List<Entry> heard, List<Notice> notices) {
        this(row, answer, heard, notices, true);
    }

    /** One that leaves the row as it is, and tells somebody. */
    static <A> Step<A> says(Row row, A answer, Notice notice) {
        return new Step<>(row, answer, List.of(), List.of(notice), false);
    }

    static <A> Step<A> nothing(Row row, A answer) {
        return new Step<>(row, answer, List.of(), List.of(), false);
    }
}
