// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockEvent;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.LeadersElected;
import io.keyway.lock.peer.session.ListChanged;
import java.util.List;
import org.junit.jupiter.api.Test;

class GroupNewsTest {
    private final GroupNews news = new GroupNews("a:1", 3, true);

    private static LockNotice.ClusterChanged changed(LockEvent.Type type, String... silent) {
        return new LockNotice.ClusterChanged(new Key(4, "cluster"), type, List.of(silent));
    }

    @Test
    void eachGroupHasItsOwnLeader() {
        news.heard(2, new LeadersElected(List.of("b:1")));
        news.heard(0, new LeadersElected(List.of("a:1")));
        assertThat(news.leaders(1)).isEmpty();
        assertThat(news.leaders(2)).containsExactly("b:1");
        news.heard(1, new LeadersElected(List.of("b:1")));
        assertThat(news.leaders()).containsExactly("a:1", "b:1");
        assertThat(news.shard(2)).isEqualTo(" shard 2 of 3");
    }

    @Test
    void whatIsNotReadyIsSaidOfItsGroups() {
        assertThat(news.notReady()).isEqualTo("shards 0, 1, 2: too few members have answered yet");
        news.heard(0, changed(LockEvent.Type.LOCK_READY));
        news.heard(2, changed(LockEvent.Type.LOCK_READY));
        news.heard(1, changed(LockEvent.Type.CLUSTER_DOWN, "b:1"));
        assertThat(news.notReady()).isEqualTo("shard 1: too few members answer; no answer from b:1");
        news.heard(1, changed(LockEvent.Type.LOCK_READY));
        assertThat(news.notReady()).isEmpty();
    }

    @Test
    void aMemberIsRemovedWhenNoGroupHasIt() {
        news.heard(0, new ListChanged(List.of("b:1", "c:1"), true));
        news.heard(1, new ListChanged(List.of("b:1", "c:1"), true));
        assertThat(news.isRemoved()).as("nothing is known of the third group").isFalse();
        news.heard(2, new ListChanged(List.of("a:1", "b:1", "c:1"), false));
        assertThat(news.isRemoved()).isFalse();
        news.heard(2, new ListChanged(List.of("b:1", "c:1"), true));
        assertThat(news.isRemoved()).isTrue();
    }

    @Test
    void whoIsToJoinIsNotRemoved() {
        for (int cell = 0; cell < 3; cell++) {
            news.heard(cell, new ListChanged(List.of("b:1", "c:1"), false));
        }
        assertThat(news.isRemoved()).isFalse();
    }

    @Test
    void cellsOfOneGroupTellOfTheSame() {
        GroupNews one = new GroupNews("a:1", 1, false);
        one.heard(3, new LeadersElected(List.of("a:1", "b:1")));
        assertThat(one.leaders(0)).containsExactly("a:1", "b:1");
        assertThat(one.shard(3)).isEmpty();
        assertThat(one.notReady()).isEmpty();
    }
}
