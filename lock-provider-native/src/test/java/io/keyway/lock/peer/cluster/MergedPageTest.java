// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.lease.LeaseCall;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.lease.LeaseMessage;
import io.keyway.lock.peer.lease.LeaseNotice;
import java.util.List;
import org.junit.jupiter.api.Test;

class MergedPageTest {
    private static LeaseMessage.Page page(boolean more, String... names) {
        return new LeaseMessage.Page(LeaseKeys.DIRECTORY, 5, List.of(names), more);
    }

    private static LeaseMessage.Page survey(int max, LeaseMessage.Page... pages) {
        MergedPage survey = new MergedPage(new LeaseCall.ListNames(9, "", "", max, 1000), pages.length);
        for (LeaseMessage.Page page : pages) {
            assertThat(survey.complete()).isFalse();
            survey.add(page);
        }
        assertThat(survey.complete()).isTrue();
        LeaseNotice.Told told = (LeaseNotice.Told) survey.result();
        LeaseMessage.Page whole = (LeaseMessage.Page) told.answer();
        assertThat(whole.request()).isEqualTo(9);
        return whole;
    }

    @Test
    void whoIsSilentDoesNotHideTheOthers() {
        MergedPage survey = new MergedPage(new LeaseCall.ListNames(9, "", "", 10, 1000), 4);
        survey.silent("b: refused");
        survey.add(page(false, "x"));
        survey.silent("b: refused");
        assertThat(survey.complete()).isFalse();
        survey.add(page(false, "a"));
        assertThat(survey.complete()).isTrue();
        LeaseNotice.ToldInPart part = (LeaseNotice.ToldInPart) survey.result();
        assertThat(part.page().request()).isEqualTo(9);
        assertThat(part.page().names()).containsExactly("a", "x");
        assertThat(part.silent()).containsExactly("b: refused");
    }

    @Test
    void whereAllAreSilentNothingIsListed() {
        MergedPage survey = new MergedPage(new LeaseCall.ListNames(9, "", "", 10, 1000), 2);
        survey.silent("b: refused");
        survey.silent("a: no answer");
        assertThat(survey.result())
                .isEqualTo(new LeaseNotice.Failed(LeaseKeys.DIRECTORY, 9, "a: no answer; b: refused", null));
    }

    @Test
    void namesOfAllAreInOrder() {
        LeaseMessage.Page whole = survey(10, page(false, "b", "d"), page(false), page(false, "a", "c"));
        assertThat(whole.names()).containsExactly("a", "b", "c", "d");
        assertThat(whole.more()).isFalse();
    }

    @Test
    void aPageIsCutWhereOneAuthorityHasNotToldAll() {
        LeaseMessage.Page whole = survey(2, page(true, "a", "b"), page(false, "x"));
        assertThat(whole.names()).containsExactly("a", "b");
        assertThat(whole.more()).isTrue();
        LeaseMessage.Page early = survey(3, page(true, "a", "b", "c"), page(true, "a1", "x", "y"));
        assertThat(early.names()).containsExactly("a", "a1", "b");
    }

    @Test
    void aPageThatIsLongerThanAskedForIsCut() {
        LeaseMessage.Page whole = survey(2, page(false, "a", "c"), page(false, "b"));
        assertThat(whole.names()).containsExactly("a", "b");
        assertThat(whole.more()).isTrue();
    }
}
