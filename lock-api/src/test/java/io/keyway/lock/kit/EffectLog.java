// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** What a {@link StoreMachine} wants done, a line for each effect. Times are milliseconds. */
final class EffectLog implements StoreEffects {

    final List<String> lines = new ArrayList<>();

    /** The batches of grants to renew. */
    final List<List<Grant>> renewals = new ArrayList<>();

    static EffectLog of(List<Consumer<StoreEffects>> effects) {
        EffectLog log = new EffectLog();
        effects.forEach(effect -> effect.accept(log));
        return log;
    }

    static String line(Consumer<StoreEffects> effect) {
        return of(List.of(effect)).lines.get(0);
    }

    @Override
    public void attempt(Request request, boolean heartbeat) {
        lines.add("attempt " + request.id());
    }

    @Override
    public void convert(Grant held, Request request, boolean heartbeat) {
        lines.add("convert " + held.id() + " to " + request.id());
    }

    @Override
    public void renew(List<Grant> grants) {
        renewals.add(grants);
        lines.add("renew " + ids(grants));
    }

    @Override
    public void release(Grant grant, boolean keeps) {
        lines.add("release " + grant.id() + " token " + grant.token());
    }

    @Override
    public void withdraw(Request request) {
        lines.add("withdraw " + request.id());
    }

    @Override
    public void waiting(long id, OptionalInt ahead, List<Owner> holders) {
        lines.add("waiting " + id);
    }

    @Override
    public void refused(long id, List<Owner> holders) {
        lines.add("refused " + id);
    }

    @Override
    public void granted(long id, Grant grant, long deadlineNanos) {
        lines.add("granted " + id + " token " + grant.token() + " until " + millis(deadlineNanos));
    }

    @Override
    public void converted(long from, long id, Grant grant, long deadlineNanos) {
        lines.add("converted " + from + " to " + id + " token " + grant.token() + " until " + millis(deadlineNanos));
    }

    @Override
    public void extended(List<Grant> grants, long deadlineNanos) {
        lines.add("extended " + ids(grants) + " until " + millis(deadlineNanos));
    }

    @Override
    public void doubt(long id, String why) {
        lines.add("doubt " + id);
    }

    @Override
    public void certain(long id) {
        lines.add("certain " + id);
    }

    @Override
    public void ended(long id, LeaseLoss.Cause cause, String detail) {
        lines.add("ended " + id + " " + cause);
    }

    @Override
    public void failed(long id, LockException failure) {
        lines.add("failed " + id + " " + failure.getClass().getSimpleName());
    }

    @Override
    public void released(long id, Answer answer) {
        lines.add("released " + id + " " + answer);
    }

    @Override
    public void gone(Request request) {
        lines.add("gone " + request.id());
    }

    private static List<Long> ids(List<Grant> grants) {
        return grants.stream().map(Grant::id).toList();
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }
}
