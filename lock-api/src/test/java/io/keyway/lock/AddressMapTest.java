// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressMapTest {

    @Test
    void whatIsMappedIsDialledElsewhere() {
        AddressMap map = AddressMap.parse("a:7400>127.0.0.1:9001,[::1]:7400>[::1]:9002");
        assertThat(map.reach("a:7400")).isEqualTo("127.0.0.1:9001");
        assertThat(map.reach("[::1]:7400")).isEqualTo("[::1]:9002");
        assertThat(map.reach("b:7400")).isEqualTo("b:7400");
        assertThat(AddressMap.parse(map.toString())).isEqualTo(map);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a:1", "a>b:1", "a:1>b", ">b:1", "a:1>", "a:1>b:2,", "a:1>b:2,a:1>c:3", "a:1>b:2>c:3"})
    void whatIsNoMapIsRefused(String text) {
        assertThatThrownBy(() -> AddressMap.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aUrlCarriesIt() {
        LockUrl url = LockUrl.parse("lock:x://a:7400?addressMap=a:7400>127.0.0.1:9001,b:7400>127.0.0.1:9002");
        assertThat(url.option(AddressMap.OPTION).orElseThrow().reach("b:7400")).isEqualTo("127.0.0.1:9002");
    }
}
