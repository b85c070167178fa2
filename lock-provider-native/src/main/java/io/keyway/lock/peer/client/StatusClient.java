// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.Tokens;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What administrators at this client asked about one key and have no answer to yet. Asked again of each new session;
 * each question can be repeated without harm.
 */
final class StatusClient {
    /** @param parts of a status that comes in several; those of an older session are worth nothing */
    private record Question(LockMessage message, long until, List<LockMessage.Status> parts) {
        Question copy() {
            return new Question(message, until, new ArrayList<>(parts));
        }
    }

    private final Key key;
    private final int timer;
    private final Map<Long, Question> open = new LinkedHashMap<>(2);
    /** Why there is no session at present; empty if nothing is known. */
    private String trouble = "";

    StatusClient(Key key, int timer) {
        this.key = key;
        this.timer = timer;
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    /** True if that call is a question. */
    boolean called(LockCall call, Turn turn) {
        if (!(call instanceof LockCall.Question question)) {
            return false;
        }
        LockMessage message = question.message(key);
        long limit = question.limit();
        // Before the caller's own clock rings: this side knows more about why there is no answer.
        open.put(question.request(), new Question(message, turn.now() + limit - limit / 16, new ArrayList<>(0)));
        ClientView client = turn.client();
        if (client.exists()) {
            turn.send(client.session(), message);
        }
        arm(turn);
        return true;
    }

    /** Nobody answers, for that reason. */
    void unreachable(ClientView.Unreachable member, Turn turn) {
        trouble = member.why();
        if (member.final_()) {
            open.keySet().forEach(request -> turn.tell(new LockNotice.Failed(key, request, trouble, true, null)));
            open.clear();
            arm(turn);
        }
    }

    /** The member answers no more: whoever asks has to ask another one. */
    void dismissed(Turn turn) {
        open.keySet().forEach(request -> turn.tell(new LockNotice.Misdirected(key, request, null, null)));
        open.clear();
        arm(turn);
    }

    void opened(Turn turn) {
        trouble = "";
        for (Question question : open.values()) {
            question.parts().clear();
            turn.send(turn.client().session(), question.message());
        }
    }

    /** True if that message is an answer. */
    boolean received(LockMessage message, Turn turn) {
        if (message instanceof LockMessage.Misdirected misdirected) {
            if (open.remove(misdirected.request()) != null) {
                turn.tell(new LockNotice.Misdirected(key, misdirected.request(), null, null));
                arm(turn);
            }
            return true;
        }
        if (!(message instanceof LockMessage.Reply reply)) {
            return false;
        }
        Question question = open.get(reply.request());
        if (question == null) {
            return true;
        }
        if (reply instanceof LockMessage.Status part) {
            question.parts().add(part);
            if (!part.last()) {
                return true;
            }
            reply = whole(question.parts());
        }
        open.remove(reply.request());
        if (question.message() instanceof LockMessage.Raise raise
                && reply instanceof LockMessage.Answer answer
                && answer.done()) {
            // Should that member lose its file, it hears of this epoch from here.
            turn.client().heard(Tokens.epoch(raise.token()));
        }
        turn.tell(new LockNotice.Told(key, reply));
        arm(turn);
        return true;
    }

    private static LockMessage.Status whole(List<LockMessage.Status> parts) {
        LockMessage.Status first = parts.get(0);
        List<Participant> holders = new ArrayList<>();
        List<Participant> waiters = new ArrayList<>();
        List<Participant> softWriters = new ArrayList<>(0);
        for (LockMessage.Status part : parts) {
            holders.addAll(part.holders());
            waiters.addAll(part.waiters());
            softWriters.addAll(part.softWriters());
        }
        int more = parts.get(parts.size() - 1).more();
        return new LockMessage.Status(
                first.key(),
                first.request(),
                List.copyOf(holders),
                List.copyOf(waiters),
                List.copyOf(softWriters),
                first.perResource(),
                first.out(),
                more,
                true);
    }

    void due(Turn turn) {
        for (Iterator<Map.Entry<Long, Question>> all = open.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Long, Question> next = all.next();
            if (turn.now() - next.getValue().until() >= 0) {
                all.remove();
                String why = trouble.isEmpty() ? "the member did not answer in time" : trouble;
                turn.tell(new LockNotice.Failed(key, next.getKey(), why, null));
            }
        }
        arm(turn);
    }

    private void arm(Turn turn) {
        long first = Turn.NEVER;
        for (Question question : open.values()) {
            first = Turn.earlier(first, question.until());
        }
        turn.timer(timer, first);
    }

    StatusClient copy() {
        StatusClient copy = new StatusClient(key, timer);
        open.forEach((request, question) -> copy.open.put(request, question.copy()));
        copy.trouble = trouble;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(trouble).put(open.size());
        for (Question question : open.values()) {
            out.value(question.message()).time(question.until()).value(question.parts());
        }
    }
}
