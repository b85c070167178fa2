// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.testing.OptionsOnPages;
import org.junit.jupiter.api.Test;

class ZooKeeperOptionsTest {
    @Test
    void everyOptionIsListedDescribedAndOnBothPages() throws Exception {
        assertThat(ZooKeeperOptions.ALL).contains(CommonOptions.TOKEN_FLOOR, ZooKeeperOptions.CURATOR);
        assertThat(OptionsOnPages.missing(
                        ZooKeeperOptions.class, ZooKeeperOptions.ALL, "urls.md", "providers/zookeeper.md"))
                .isEmpty();
    }

    @Test
    void whatIsMissingOnAPageIsFound() throws Exception {
        assertThat(OptionsOnPages.missing(ZooKeeperOptions.class, ZooKeeperOptions.ALL, "glossary.md"))
                .contains("`ZooKeeperOptions.CURATOR` on glossary.md")
                .doesNotContain("`tokenFloor` on glossary.md");
    }
}
