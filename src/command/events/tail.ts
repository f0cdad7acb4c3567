import type { Context } from '../context.ts'
import type { ExitCode } from '../io.ts'
import { cellOf } from '../output/tables.ts'
import { safeJsonLine } from '../output/terminal.ts'
import { eventFilterOf, type FollowedEvent, followEvents, namesOf, untilInterrupted } from './follow.ts'

const NAME_WIDTH = 26

function lineOf({ createdAt, event, data, id }: FollowedEvent): string {
  const members = Object.entries(data).map(([name, value]) => `${name}=${cellOf(name, value)}`)
  return [cellOf('createdAt', createdAt), event.padEnd(NAME_WIDTH), ...members, id].join('  ')
}

export async function tail(context: Context): Promise<ExitCode> {
  const { type, agent } = context.options
  const wanted = await eventFilterOf(namesOf(type), typeof agent === 'string' ? agent : undefined, context)
  const follow = async () => {
    for await (const event of followEvents(context, wanted))
      context.say(context.asJson ? safeJsonLine(event) : lineOf(event))
  }
  return untilInterrupted(context.io, follow())
}
