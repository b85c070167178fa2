// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.lease.LeaseCall;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.lease.LeaseMessage;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SurveyTest {
    private static LeaseMessage.Page page(boolean more, String... names) {
        return new LeaseMessage.Page(LeaseKeys.DIRECTORY, 5, List.of(names), more);
    }

    private static LeaseMessage.Page survey(int max, LeaseMessage.Page... pages) {
        Survey survey = new Survey(new LeaseCall.ListNames(9, "", "", max, 1000), pages.length);
        for (int i = 0; i < pages.length - 1; i++) {
            assertThat(survey.add(pages[i])).isEmpty();
        }
        Optional<LeaseMessage.Page> whole = survey.add(pages[pages.length - 1]);
        assertThat(whole.orElseThrow().request()).isEqualTo(9);
        return whole.orElseThrow();
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
