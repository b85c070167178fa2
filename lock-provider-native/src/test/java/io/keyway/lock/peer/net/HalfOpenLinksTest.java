// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class HalfOpenLinksTest {
    private final HalfOpenLinks links = new HalfOpenLinks(10, 4);

    /** A connection from some address that notes that it has to go. */
    private static final class From extends EmbeddedChannel {
        private final InetSocketAddress remote;
        boolean told;

        /** @param hex the bytes of the address */
        From(String hex) throws UnknownHostException {
            remote = new InetSocketAddress(
                    InetAddress.getByAddress(HexFormat.of().parseHex(hex)), 1);
            pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext context, Object event) {
                    told |= event == HalfOpenLinks.Half.EVICTED;
                    context.fireUserEventTriggered(event);
                }
            });
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return remote;
        }
    }

    private List<From> open(int count, String hex) throws UnknownHostException {
        List<From> opened = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            From channel = new From(hex);
            opened.add(channel);
            links.opened(channel);
        }
        return opened;
    }

    private static List<Boolean> told(List<From> channels) {
        return channels.stream().map(channel -> channel.told).toList();
    }

    @Test
    void theOldestOfAnAddressGoesFirst() throws UnknownHostException {
        List<From> others = open(3, "0a000002");
        List<From> many = open(6, "0a000001");
        assertThat(told(many)).containsExactly(true, true, false, false, false, false);
        assertThat(told(others)).containsOnly(false);
        assertThat(links.size()).isEqualTo(7);
    }

    @Test
    void ofTooManyInAllTheAddressWithMostLosesItsOldest() throws UnknownHostException {
        List<From> early = open(1, "0a000001");
        List<From> many = open(4, "0a000002");
        List<From> some = open(3, "0a000003");
        open(2, "0a000004");
        List<From> late = open(1, "0a000005");
        assertThat(told(early)).containsOnly(false);
        assertThat(told(many)).containsExactly(true, false, false, false);
        assertThat(told(some)).containsOnly(false);
        assertThat(told(late)).containsOnly(false);
        assertThat(links.size()).isEqualTo(10);
    }

    @Test
    void theAddressesOfOneNetworkOfIpv6CountAsOne() throws UnknownHostException {
        From first = open(1, "20010db8000000010000000000000001").get(0);
        List<From> same = open(4, "20010db8000000010000000000000002");
        List<From> other = open(1, "20010db8000000020000000000000001");
        assertThat(first.told).isTrue();
        assertThat(told(same)).containsOnly(false);
        assertThat(told(other)).containsOnly(false);
    }

    @Test
    void whatHasProvedItselfMakesRoom() throws UnknownHostException {
        HalfOpenLinks.Half proved = links.opened(new From("0a000001"));
        links.remove(proved);
        links.remove(proved);
        assertThat(links.size()).isZero();
        assertThat(told(open(4, "0a000001"))).containsOnly(false);
    }

    @Test
    void aChannelOnItsWayToAnotherLoopIsLeftAloneUntilItArrives() throws UnknownHostException {
        From channel = new From("0a000001");
        HalfOpenLinks.Half moving = links.opened(channel);
        moving.moves();
        open(4, "0a000001");
        assertThat(channel.told).isFalse();
        assertThat(moving.arrived()).as("may stay").isFalse();
        HalfOpenLinks.Half other = links.opened(new From("0a000009"));
        other.moves();
        assertThat(other.arrived()).as("may stay").isTrue();
    }

    @Test
    void theEndReachesAllThoughEachLeavesWhenItIsTold() throws UnknownHostException {
        List<From> all = open(3, "0a000001");
        for (String address : List.of("0a000002", "0a000002", "0a000003")) {
            From channel = new From(address);
            HalfOpenLinks.Half half = links.opened(channel);
            all.add(channel);
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext context, Object event) {
                    links.remove(half);
                }
            });
        }
        links.closeAll();
        assertThat(told(all)).containsOnly(true);
        assertThat(links.size()).isZero();
    }
}
