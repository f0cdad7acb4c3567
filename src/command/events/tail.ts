import type { Context } from '../context.ts'
import type { ExitCode } from '../io.ts'
import { cellOf } from '../output/cells.ts'
import { safeJsonLine } from '../output/safe.ts'
import { type FollowedEvent, followEvents, untilInterrupted } from './follow.ts'
import { namesIn, wantedOf } from './wanted.ts'

/** As wide as most names of events, so that what follows them is aligned. */
const NAME_WIDTH = 26

function lineOf({ createdAt, event, data, id }: FollowedEvent): string {
  const members = Object.entries(data).map(([name, value]) => `${name}=${cellOf(name, value)}`)
  return [cellOf('createdAt', createdAt), event.padEnd(NAME_WIDTH), ...members, id].join('  ')
}

export async function tail(context: Context): Promise<ExitCode> {
  const { type, agent } = context.options
  const wanted = await wantedOf(namesIn(type), typeof agent === 'string' ? agent : undefined, context)
  const follow = async () => {
    for await (const event of followEvents(context, wanted))
      context.say(context.asJson ? safeJsonLine(event) : lineOf(event))
  }
  return untilInterrupted(context.io, follow())
}
