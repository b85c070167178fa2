// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.net.ReaderRole.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who reads, and who is next; on one thread, which stands for all of them. */
class ReaderRoleTest {
    private final ReaderRole role = new ReaderRole();
    private final AtomicInteger wakeUps = new AtomicInteger();

    private Waiting waiting(CompletableFuture<?> outcome, boolean mayRead) {
        return new Waiting(Thread.currentThread(), mayRead, outcome, wakeUps::incrementAndGet);
    }

    private Waiting enter() {
        Waiting waiting = waiting(new CompletableFuture<>(), true);
        role.enter(waiting);
        return waiting;
    }

    private Waiting idle() {
        return new Waiting(Thread.currentThread(), true, null, wakeUps::incrementAndGet);
    }

    @Test
    void theFirstReadsAndTheOthersFollowInTheirOrder() {
        List<Waiting> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(enter());
        }
        for (Waiting each : all) {
            assertThat(all).filteredOn(other -> other.reads).containsExactly(each);
            role.leave(each);
        }
        assertThat(all).noneMatch(each -> each.reads);
        assertThat(enter().reads).isTrue();
    }

    @Test
    void tasksAreLeftToAReaderThatRuns() {
        assertThat(role.looksForTasks()).isFalse();
        Waiting reader = enter();
        assertThat(role.looksForTasks()).isTrue();
        reader.at = Waiting.SELECTING;
        assertThat(role.looksForTasks()).isFalse();
        Waiting next = enter();
        next.at = Waiting.PARKED;
        role.leave(reader);
        assertThat(role.looksForTasks()).as("the next one has not woken up").isFalse();
        next.at = Waiting.RUNNING;
        assertThat(role.looksForTasks()).isTrue();
        next.over = true;
        assertThat(role.looksForTasks()).as("one that could not leave").isFalse();
        role.leave(next);
        assertThat(role.looksForTasks()).isFalse();
        assertThat(role.takeIfIdle(idle(), role.takes())).isTrue();
        assertThat(role.looksForTasks())
                .as("the thread that reads while nobody waits")
                .isFalse();
    }

    @Test
    void whoHasItsOutcomeIsPassedOver() {
        Waiting first = enter();
        CompletableFuture<String> early = new CompletableFuture<>();
        Waiting second = waiting(early, true);
        role.enter(second);
        Waiting third = enter();
        early.complete("there");
        role.leave(first);
        assertThat(second.reads).isFalse();
        assertThat(third.reads).isTrue();
        role.leave(second);
        assertThat(third.reads).isTrue();
    }

    @Test
    void aFollowerThatLeavesIsNotGivenTheRole() {
        Waiting first = enter();
        Waiting second = enter();
        Waiting third = enter();
        Waiting fourth = enter();
        role.leave(third);
        role.leave(second);
        role.leave(first);
        assertThat(fourth.reads).isTrue();
        role.leave(fourth);
        assertThat(List.of(first, second, third, fourth)).noneMatch(each -> each.reads);
    }

    @Test
    void whoCannotReadNeverGetsIt() {
        Waiting virtual = waiting(new CompletableFuture<>(), false);
        role.enter(virtual);
        assertThat(virtual.reads).isFalse();
        Waiting reader = enter();
        assertThat(reader.reads).isTrue();
        role.leave(reader);
        assertThat(virtual.reads).isFalse();
        Waiting idle = idle();
        assertThat(role.takeIfIdle(idle, -1)).as("at once, for one that cannot").isTrue();
        role.leave(idle);
        role.leave(virtual);
        assertThat(role.takeIfIdle(idle, -1)).isFalse();
    }

    @Test
    void whoReadsWhileNobodyWaitsTakesItOnlyWhenNobodyHasHadIt() {
        Waiting idle = idle();
        long before = role.takes();
        role.leave(enter());
        assertThat(role.takeIfIdle(idle, before)).isFalse();
        assertThat(role.takeIfIdle(idle, role.takes())).isTrue();
        assertThat(role.followed()).isFalse();
        Waiting user = enter();
        assertThat(user.reads).isFalse();
        assertThat(role.followed()).isTrue();
        role.leave(idle);
        assertThat(user.reads).isTrue();
        assertThat(role.takeIfIdle(idle, role.takes())).isFalse();
    }

    @Test
    void itSleepsWhileOneThreadReadsAndIsWokenWhenThatLeavesNobody() {
        Waiting idle = idle();
        assertThat(role.sleepUntilFree(idle, role.takes())).as("nobody reads").isFalse();
        Waiting one = enter();
        Waiting two = enter();
        assertThat(role.sleepUntilFree(idle, role.takes() - 1)).as("a new one").isFalse();
        assertThat(role.sleepUntilFree(idle, role.takes())).isTrue();
        role.leave(one);
        assertThat(role.sleeps()).as("another one reads").isTrue();
        role.leave(two);
        assertThat(role.sleeps()).isFalse();
    }

    @Test
    void newsEndsTheSelectOfWhoReadsAndNobodyElses() throws InterruptedException {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Waiting reader = waiting(outcome, true);
        CompletionStage<String> stage = outcome;
        stage.whenComplete(reader);
        reader.at = Waiting.SELECTING;
        Thread other = new Thread(() -> outcome.complete("news"));
        other.start();
        other.join();
        assertThat(wakeUps).hasValue(1);
        reader.at = Waiting.RUNNING;
        reader.wake();
        assertThat(wakeUps).as("it looks by itself").hasValue(1);
    }

    @Test
    void nobodyParksWhoHasNewsAlready() {
        Waiting reader = enter();
        reader.park(Long.MAX_VALUE);
        Waiting done = waiting(CompletableFuture.completedFuture("there"), true);
        done.park(Long.MAX_VALUE);
        assertThat(done.at).isEqualTo(Waiting.RUNNING);
    }

    @Test
    void whoCouldNotLeaveIsTakenForOneThatHas() {
        Waiting lame = enter();
        Waiting second = enter();
        lame.over = true;
        role.heal();
        assertThat(second.reads).isTrue();
        role.leave(lame);
        assertThat(second.reads).as("it comes too late").isTrue();
        second.over = true;
        assertThat(enter().reads).isTrue();
    }
}
