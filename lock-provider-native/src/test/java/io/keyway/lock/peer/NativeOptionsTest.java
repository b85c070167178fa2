// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeOptionsTest {
    @Test
    void everyOptionIsListedDescribedAndOnThePageOfUrls() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "urls.md"));
        for (Option<?> option : NativeOptions.ALL) {
            assertThat(option.description()).as(option.name()).isNotEmpty();
            if (option.inUrl()) {
                assertThat(page).contains("`" + option.name() + "`");
            }
        }
        List<Field> constants = Arrays.stream(NativeOptions.class.getFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()) && field.getType() == Option.class)
                .toList();
        // One of them is common to all providers that keep it.
        assertThat(NativeOptions.ALL).contains(CommonOptions.TOKEN_FLOOR).hasSize(constants.size() + 1);
    }
}
