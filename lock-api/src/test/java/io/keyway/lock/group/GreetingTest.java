// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What two processes prove to each other before they talk. */
class GreetingTest {
    private static final int LONGEST = 100;

    private Link listening;
    private Link dialling;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocket entrance = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            dialling = new Link(new Socket(entrance.getInetAddress(), entrance.getLocalPort()), LONGEST);
            listening = new Link(entrance.accept(), LONGEST);
        }
    }

    @AfterEach
    void close() {
        listening.close();
        dialling.close();
    }

    private static Greeting of(String election, String secret) {
        return new Greeting(election, Text.bytes(secret));
    }

    private CompletableFuture<Long> dials(Greeting by) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return by.say(dialling, "b", true);
            } catch (IOException e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        });
    }

    @Test
    void whoKnowsTheSecretIsLetIn() throws Exception {
        CompletableFuture<Long> token = dials(of("e", "one"));
        Greeting.Hello hello = of("e", "one").hear(listening);
        listening.write(new Frame(Frame.Kind.WELCOME, 7, hello.proof()));
        assertThat(token.get(3, TimeUnit.MINUTES)).isEqualTo(7);
        assertThat(hello.name()).isEqualTo("b");
        assertThat(hello.candidate()).isTrue();
    }

    @Test
    void whoDoesNotKnowTheSecretIsNot() {
        CompletableFuture<Long> token = dials(of("e", "other"));
        assertThatThrownBy(() -> of("e", "one").hear(listening)).hasMessageContaining("secrets");
        listening.close();
        assertThatThrownBy(token::join).isNotNull();
    }

    @Test
    void whoBelongsToAnotherElectionIsNot() {
        CompletableFuture<Long> token = dials(of("f", "one"));
        assertThatThrownBy(() -> of("e", "one").hear(listening)).hasMessageContaining("the election e, not f");
        listening.close();
        assertThatThrownBy(token::join).isNotNull();
    }

    /** Whoever listens at the address of a leader may be somebody else. */
    @Test
    void aLeaderThatDoesNotKnowTheSecretIsNotFollowed() throws Exception {
        CompletableFuture<Long> token = dials(of("e", "one"));
        listening.write(new Frame(Frame.Kind.CHALLENGE, 1, new byte[32]));
        assertThat(listening.read(Greeting.LONGEST, Greeting.PATIENCE).kind()).isEqualTo(Frame.Kind.HELLO);
        listening.write(new Frame(Frame.Kind.WELCOME, 7, new byte[32]));
        assertThatThrownBy(token::join).hasMessageContaining("the leader does not know the secret");
    }

    @Test
    void aMessageThatIsTooLongIsNotRead() {
        byte[] header = {0, 1, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0};
        assertThatThrownBy(() -> Frame.read(new DataInputStream(new ByteArrayInputStream(header)), LONGEST))
                .hasMessageContaining("100 are allowed");
    }
}
