// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection whose other end is the test's. */
class LinkTest {
    private static final int LONGEST = 1 << 20;
    private static final int NEVER = 3_600_000;

    private final CountDownLatch ended = new CountDownLatch(1);
    private Socket ours;
    private Socket theirs;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocket entrance = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ours = new Socket(entrance.getInetAddress(), entrance.getLocalPort());
            theirs = entrance.accept();
        }
    }

    @AfterEach
    void close() throws IOException {
        ours.close();
        theirs.close();
    }

    private Link run(int beat, int silence) throws IOException {
        Link link = new Link(ours, LONGEST, beat, silence);
        link.run("keyway-group-test", (frame, done) -> done.run(), ended::countDown);
        return link;
    }

    @Test
    void anEndThatSendsNothingSendsEmptyFrames() throws Exception {
        try (Link link = run(10, NEVER)) {
            DataInputStream in = new DataInputStream(theirs.getInputStream());
            for (int i = 0; i < 3; i++) {
                assertThat(Frame.read(in, LONGEST).kind()).isEqualTo(Frame.Kind.BEAT);
            }
            assertThat(ended.getCount()).isEqualTo(1);
        }
    }

    /** As where packets of a connection get lost, which no end notices. */
    @Test
    void aConnectionThatCarriesNothingIsClosed() throws Exception {
        try (Link link = run(NEVER, 50)) {
            assertThat(ended.await(3, TimeUnit.MINUTES)).isTrue();
        }
    }

    @Test
    void whatWaitsForAnEndThatDoesNotReadIsBounded() throws Exception {
        try (Link link = run(NEVER, NEVER)) {
            byte[] message = new byte[LONGEST];
            int sent = 0;
            while (!ours.isClosed() && sent < 1_000) {
                link.send(new Frame(Frame.Kind.TELL, 0, message));
                sent++;
            }
            assertThat(sent)
                    .as("messages of 1 MiB, those in the buffers of the system among them")
                    .isBetween(64, 300);
        }
    }

    /** As of a leader whose member takes long, while others send. */
    @Test
    void whatComesFasterThanItIsHeardStaysAtTheOtherEnd() throws Exception {
        int messages = 100;
        List<Runnable> heard = new CopyOnWriteArrayList<>();
        try (Link link = new Link(ours, LONGEST, NEVER, NEVER)) {
            link.run("keyway-link-test", (frame, done) -> heard.add(done), ended::countDown);
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> send(messages));
            await().until(() -> sent.isDone() || waits("keyway-link-test-reads"));
            assertThat(heard).as("messages of 1 MiB").hasSizeLessThan(10);
            int done = 0;
            while (done < messages) {
                int next = done;
                await().until(() -> heard.size() > next);
                heard.get(next).run();
                done++;
            }
            sent.get(3, TimeUnit.MINUTES);
        }
        assertThat(ended.await(3, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void aLinkThatIsClosedReadsOnThoughNothingIsDone() throws Exception {
        Link link = new Link(ours, LONGEST, NEVER, NEVER);
        link.run("keyway-link-test", (frame, done) -> {}, ended::countDown);
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> send(100));
        await().until(() -> waits("keyway-link-test-reads"));
        link.close();
        assertThat(ended.await(3, TimeUnit.MINUTES)).isTrue();
        assertThatThrownBy(() -> sent.get(3, TimeUnit.MINUTES)).hasRootCauseInstanceOf(IOException.class);
    }

    private void send(int messages) {
        try {
            DataOutputStream out = new DataOutputStream(theirs.getOutputStream());
            for (int i = 0; i < messages; i++) {
                new Frame(Frame.Kind.CAST, 0, new byte[LONGEST]).write(out);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean waits(String thread) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each -> each.getName().equals(thread) && each.getState() == Thread.State.WAITING);
    }
}
