import type { CommandContext } from '../context.ts'
import type { ExitCode } from '../io.ts'
import { formatCell } from '../output/tables.ts'
import { escapedJsonLine } from '../output/terminal.ts'
import {
  createEventFilter,
  type FollowedEvent,
  followEvents,
  parseEventNames,
  runUntilInterrupted,
} from './follow.ts'

const NAME_WIDTH = 26

function lineOf({ createdAt, event, data, id }: FollowedEvent): string {
  const members = Object.entries(data).map(([name, value]) => `${name}=${formatCell(name, value)}`)
  return [formatCell('createdAt', createdAt), event.padEnd(NAME_WIDTH), ...members, id].join('  ')
}

export async function tailEvents(context: CommandContext): Promise<ExitCode> {
  const { type, agent: named } = context.options
  const agent = context.arguments[0] ?? named
  const wanted = await createEventFilter(
    parseEventNames(type),
    typeof agent === 'string' ? agent : undefined,
    context,
  )
  const follow = async () => {
    for await (const event of followEvents(context, wanted))
      context.say(context.asJson ? escapedJsonLine(event) : lineOf(event))
  }
  return runUntilInterrupted(context.io, follow())
}
