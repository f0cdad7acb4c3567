import type { CallOptions, WaitOptions } from './options.ts'
import { untilDecided } from './wait.ts'

type Method = (...given: readonly unknown[]) => unknown
type Verbs = Readonly<Record<string, Method>>

/** Verbs that are no operation, made of those of their noun. */
const ownVerbs: Readonly<Record<string, (verbs: Verbs) => Verbs>> = {
  intents: ({ get }) => ({
    wait: (id, options) =>
      untilDecided(
        (own: CallOptions) => get?.(id, own) as Promise<{ status: string }>,
        options as WaitOptions | undefined,
      ),
  }),
}

/** The verbs of a noun, with those that are made of them. */
export const withOwnVerbs = (noun: string, verbs: Verbs): Verbs => ({ ...verbs, ...ownVerbs[noun]?.(verbs) })
