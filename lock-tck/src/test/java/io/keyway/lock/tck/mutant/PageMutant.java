// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.spi.NotExecutedException;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** A store whose listing has a defect. */
final class PageMutant extends ReferenceStore {

    /** A listing over the sane one. */
    interface Pages {
        LockPage list(Sane sane, String prefix, Optional<String> after, int max) throws NotExecutedException;
    }

    /** The reference's listing. */
    interface Sane {
        LockPage list(String prefix, Optional<String> after, int max) throws NotExecutedException;
    }

    private final Pages pages;

    PageMutant(LongSupplier clock, long tokensAbove, Pages pages) {
        super(clock, tokensAbove);
        this.pages = pages;
    }

    @Override
    public LockPage list(String prefix, Optional<String> after, int max) throws NotExecutedException {
        return pages.list(super::list, prefix, after, max);
    }

    private static LockPage those(LockPage page, Predicate<LockStatus> shown) {
        return new LockPage(page.locks().stream().filter(shown).toList(), page.next());
    }

    static LockPage byPattern(Sane sane, String prefix, Optional<String> after, int max) throws NotExecutedException {
        Pattern pattern = Pattern.compile("\\Q" + prefix.replace("_", "\\E.\\Q") + "\\E.*", Pattern.DOTALL);
        String sure = prefix.contains("_") ? prefix.substring(0, prefix.indexOf('_')) : prefix;
        return those(
                sane.list(sure, after, max),
                status -> pattern.matcher(status.key().name().value()).matches());
    }

    static LockPage bySegments(Sane sane, String prefix, Optional<String> after, int max) throws NotExecutedException {
        String folder = prefix.endsWith("/") ? prefix : prefix + "/";
        return those(
                sane.list(prefix, after, max), status -> (status.key().name().value() + "/").startsWith(folder));
    }

    static LockPage byCount(Sane sane, String prefix, Optional<String> after, int max) throws NotExecutedException {
        List<LockStatus> all =
                sane.list(prefix, Optional.empty(), Integer.MAX_VALUE).locks();
        int from = Math.min(all.size(), after.map(Integer::parseInt).orElse(0));
        int to = Math.min(all.size(), from + max);
        return new LockPage(
                all.subList(from, to), to == all.size() ? Optional.empty() : Optional.of(Integer.toString(to)));
    }

    static LockPage heldOnly(Sane sane, String prefix, Optional<String> after, int max) throws NotExecutedException {
        return those(sane.list(prefix, after, max), status -> !status.holders().isEmpty());
    }
}
