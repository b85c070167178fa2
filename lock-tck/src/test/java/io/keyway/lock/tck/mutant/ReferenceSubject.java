// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import java.util.function.UnaryOperator;

/** Runs the kit on a world of the reference, or of a mutant, in virtual time. */
final class ReferenceSubject {

    private ReferenceSubject() {}

    static TckResult run(String url, TckConfig config) throws InterruptedException {
        return run(url, config, subject -> subject.withLinks(new Links()));
    }

    /** As {@link #run(String, TckConfig)}, its links left to the kit. */
    static TckResult runWithoutLinks(String url, TckConfig config) throws InterruptedException {
        return run(url, config, subject -> subject);
    }

    private static TckResult run(String url, TckConfig config, UnaryOperator<TckSubject> more)
            throws InterruptedException {
        // A client of our own keeps the world, and moves it.
        try (LockClient owner = Locks.open(url + (url.contains("?") ? "&" : "?") + "name=owner")) {
            ReferenceWorld world = owner.unwrap(ReferenceWorld.class);
            TckSubject subject = TckSubject.of(url)
                    .withAdvance(world::advance)
                    .withServer(world::kill, world::restart)
                    .withFootprint(world.store()::kept)
                    .withThrowawayStore();
            return TckRunner.run(more.apply(subject), config);
        }
    }

    /** The link of one client. */
    private static final class Links implements TckSubject.Links {
        @Override
        public void cut(LockClient client, boolean cut) {
            client.unwrap(ReferenceFaults.class).cut(cut);
        }

        @Override
        public boolean reset(LockClient client) {
            client.unwrap(ReferenceFaults.class).reset();
            return true;
        }

        @Override
        public void loseReplies(LockClient client, boolean lost) {
            client.unwrap(ReferenceFaults.class).loseReplies(lost);
        }

        @Override
        public boolean loseRepliesAfter(LockClient client, int answers) {
            client.unwrap(ReferenceFaults.class).loseRepliesAfter(answers);
            return true;
        }
    }
}
