import { suggestion } from '../../values/nearest.ts'
import type { OptionValues } from '../arguments/parse.ts'
import { pagesOf } from '../calls/pages.ts'
import type { Context } from '../context.ts'
import { usageError } from '../io.ts'

/** Which events somebody wants: what the service filters by, and which of those that come. */
export interface Wanted {
  readonly query: Readonly<Record<string, unknown>>
  has(event: string): boolean
}

/** The names in an option that is repeated, or that has commas in it; none where all events are meant. */
export function namesIn(value: OptionValues[string]): readonly string[] {
  const names = [value ?? []]
    .flat()
    .flatMap(text => String(text).split(','))
    .map(name => name.trim())
    .filter(name => name !== '')
  return names.includes('*') ? [] : [...new Set(names)]
}

/** The service filters by one name; several are chosen from all that comes, once it is known that there are such events. */
export async function wantedOf(
  names: readonly string[],
  agentId: string | undefined,
  context: Pick<Context, 'result'>,
): Promise<Wanted> {
  if (names.length > 1) await refuseUnknown(names, context)
  return {
    query: {
      ...(names.length === 1 ? { event: names[0] } : {}),
      ...(agentId === undefined ? {} : { agentId }),
    },
    has: event => names.length === 0 || names.includes(event),
  }
}

async function refuseUnknown(names: readonly string[], { result }: Pick<Context, 'result'>): Promise<void> {
  const known: string[] = []
  for await (const types of pagesOf<{ event: string }>('events.types', {}, { result }))
    known.push(...types.map(({ event }) => event))
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined)
    throw usageError(
      `There is no event ${unknown}.${suggestion(unknown, known)} agentpay events types lists them.`,
    )
}
