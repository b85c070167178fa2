// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import java.util.List;
import org.junit.jupiter.api.Test;

class MergedPageTest {
    private static LockMessage.Page page(boolean more, String... names) {
        return new LockMessage.Page(LeaseKeys.DIRECTORY, 5, List.of(names), more);
    }

    private static LockMessage.Page survey(int max, LockMessage.Page... pages) {
        MergedPage survey =
                new MergedPage(LockKeys.directory(1), new LockCall.ListNames(9, "", "", max, 1000), pages.length);
        for (LockMessage.Page page : pages) {
            assertThat(survey.complete()).isFalse();
            survey.add(page);
        }
        assertThat(survey.complete()).isTrue();
        LockNotice.Told told = (LockNotice.Told) survey.result();
        LockMessage.Page whole = (LockMessage.Page) told.answer();
        assertThat(told.silent()).isEmpty();
        assertThat(whole.request()).isEqualTo(9);
        return whole;
    }

    @Test
    void whoIsSilentDoesNotHideTheOthers() {
        MergedPage survey = new MergedPage(LockKeys.directory(1), new LockCall.ListNames(9, "", "", 10, 1000), 4);
        survey.silent("b: refused");
        survey.add(page(false, "x"));
        survey.silent("b: refused");
        assertThat(survey.complete()).isFalse();
        survey.add(page(false, "a"));
        assertThat(survey.complete()).isTrue();
        LockNotice.Told part = (LockNotice.Told) survey.result();
        assertThat(part.answer().request()).isEqualTo(9);
        assertThat(((LockMessage.Page) part.answer()).names()).containsExactly("a", "x");
        assertThat(part.silent()).containsExactly("b: refused");
    }

    @Test
    void whereAllAreSilentNothingIsListed() {
        MergedPage survey = new MergedPage(LockKeys.directory(1), new LockCall.ListNames(9, "", "", 10, 1000), 2);
        survey.silent("b: refused");
        survey.silent("a: no answer");
        assertThat(survey.result())
                .isEqualTo(new LockNotice.Failed(LeaseKeys.DIRECTORY, 9, "a: no answer; b: refused", null));
    }

    @Test
    void namesOfAllAreInOrder() {
        LockMessage.Page whole = survey(10, page(false, "b", "d"), page(false), page(false, "a", "c"));
        assertThat(whole.names()).containsExactly("a", "b", "c", "d");
        assertThat(whole.more()).isFalse();
    }

    @Test
    void aPageIsCutWhereOneAuthorityHasNotToldAll() {
        LockMessage.Page whole = survey(2, page(true, "a", "b"), page(false, "x"));
        assertThat(whole.names()).containsExactly("a", "b");
        assertThat(whole.more()).isTrue();
        LockMessage.Page early = survey(3, page(true, "a", "b", "c"), page(true, "a1", "x", "y"));
        assertThat(early.names()).containsExactly("a", "a1", "b");
    }

    @Test
    void aPageThatIsLongerThanAskedForIsCut() {
        LockMessage.Page whole = survey(2, page(false, "a", "c"), page(false, "b"));
        assertThat(whole.names()).containsExactly("a", "b");
        assertThat(whole.more()).isTrue();
    }
}
