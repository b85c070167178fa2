// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.testing.OptionsOnPages;
import org.junit.jupiter.api.Test;

class RedisOptionsTest {
    @Test
    void everyOptionIsListedDescribedAndOnBothPages() throws Exception {
        assertThat(RedisOptions.ALL).contains(CommonOptions.TOKEN_FLOOR, RedisOptions.SSL_CONTEXT);
        assertThat(OptionsOnPages.missing(RedisOptions.class, RedisOptions.ALL, "urls.md", "providers/redis.md"))
                .isEmpty();
    }

    @Test
    void whatIsMissingOnAPageIsFound() throws Exception {
        assertThat(OptionsOnPages.missing(RedisOptions.class, RedisOptions.ALL, "glossary.md"))
                .contains("`RedisOptions.SSL_CONTEXT` on glossary.md")
                .doesNotContain("`tokenFloor` on glossary.md");
    }
}
