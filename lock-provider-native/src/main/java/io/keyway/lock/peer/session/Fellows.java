// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.util.List;

/** The other members, as whoever lets links in has to know them. */
interface Fellows {
    /** Whether members come and go. */
    boolean isElastic();

    /** Whether that is another member, or somebody who may become one. */
    boolean knows(String member);

    /** As of {@link io.keyway.lock.peer.kernel.PeerView.Stranger}; it was refused. */
    void refused(String member);

    /** The ids of all members of the list that counts. */
    List<String> members();
}
