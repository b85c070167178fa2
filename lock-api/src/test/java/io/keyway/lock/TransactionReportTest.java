// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What a transaction says of itself, as text, as JSON and as a picture. */
class TransactionReportTest {
    private static final LockName NAILS = LockName.of("stock/nails");
    private static final LockName ORDER = LockName.of("orders/7");

    private static Deadlock.Waiter waiter(String client, LockName name, int millis) {
        return new Deadlock.Waiter(client, client + "-1", name, Duration.ofMillis(millis));
    }

    private static TransactionReport report(List<Deadlock> deadlocks) {
        LockStatus shown = new LockStatus(
                new LockKey(LockKey.Kind.LOCK, NAILS),
                List.of(new LockStatus.Holder(
                        "<billing> & co",
                        LockMode.EXCLUSIVE,
                        1,
                        OptionalLong.of(9),
                        Duration.ofMillis(1377),
                        Map.of(),
                        Optional.empty())),
                List.of(new LockStatus.Waiter(
                        "shop", LockMode.SHARED, 1, OptionalLong.empty(), Duration.ofMillis(1204), Map.of())),
                List.of());
        return new TransactionReport(
                "5f1c0d2be8a94a17-12",
                LockTransaction.Status.WAITING,
                List.of(new TransactionReport.Held(ORDER, LockMode.EXCLUSIVE, 5)),
                List.of(new TransactionReport.Wait(
                        NAILS, LockMode.SHARED, Duration.ofMillis(1204), Optional.of(shown))),
                deadlocks);
    }

    private static List<String> texts(TransactionReport report) throws Exception {
        Document document = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(report.picture().getBytes(StandardCharsets.UTF_8)));
        NodeList nodes = document.getElementsByTagName("text");
        List<String> texts = new ArrayList<>();
        int width = Integer.parseInt(document.getDocumentElement().getAttribute("width"));
        int height = Integer.parseInt(document.getDocumentElement().getAttribute("height"));
        for (int i = 0; i < nodes.getLength(); i++) {
            Element text = (Element) nodes.item(i);
            assertThat(Integer.parseInt(text.getAttribute("x"))).isBetween(0, width);
            assertThat(Integer.parseInt(text.getAttribute("y"))).isBetween(0, height);
            texts.add(text.getTextContent());
        }
        return texts;
    }

    @Test
    void thePictureHasWhoWaitsForWhomSinceWhenOverWhichLocks() throws Exception {
        assertThat(texts(report(List.of())))
                .containsExactly(
                        "5f1c0d2be8a94a17-12",
                        "WAITING",
                        "orders/7",
                        "token 5",
                        "has EXCLUSIVE",
                        "stock/nails",
                        "SHARED since 1204 ms",
                        "<billing> & co",
                        "holds since 1377 ms",
                        "EXCLUSIVE",
                        "shop",
                        "waits since 1204 ms",
                        "SHARED");
    }

    @Test
    void thePictureHasEachCircleWithWhoGaveWayFirst() throws Exception {
        Deadlock three = new Deadlock(
                List.of(waiter("a", NAILS, 30), waiter("b", ORDER, 20), waiter("c", LockName.of("z"), 10)),
                LockName.of("z"),
                Deadlock.Way.SURRENDERED);
        Deadlock upgrade = new Deadlock(List.of(waiter("a", NAILS, 30)), NAILS, Deadlock.Way.ABORTED);
        assertThat(texts(report(List.of(three, upgrade))))
                .containsSubsequence(
                        "deadlock: SURRENDERED, z was given up",
                        "a-1",
                        "stock/nails since 30 ms",
                        "b-1",
                        "orders/7 since 20 ms",
                        "c-1",
                        "z since 10 ms",
                        "deadlock: ABORTED, stock/nails was given up",
                        "a-1",
                        "stock/nails since 30 ms");
    }

    @Test
    void aPictureOfManyLocksAndLongNamesStaysWithinItsEdges() throws Exception {
        String name = "n".repeat(80);
        TransactionReport report = new TransactionReport(
                "t",
                LockTransaction.Status.WAITING,
                IntStream.range(0, 100)
                        .mapToObj(i -> new TransactionReport.Held(LockName.of(name + i), LockMode.SHARED, i))
                        .toList(),
                List.of(new TransactionReport.Wait(
                        LockName.of(name), LockMode.EXCLUSIVE, Duration.ZERO, Optional.empty())),
                List.of());
        assertThat(texts(report)).filteredOn(text -> text.endsWith("…")).hasSize(101);
    }
}
