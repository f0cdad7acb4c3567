import { idMembers } from '../../derive/commands/table.ts'
import { usageError } from '../io.ts'
import type { CommandDefinition } from '../table.ts'
import { plainName } from './members.ts'

const ID = /^([a-z]+)_\w+$/

/** The options that ids after those of the path stand for; a second wallet is the next member for a wallet. */
export function optionsForIds(
  command: CommandDefinition,
  ids: readonly string[],
  given: ReadonlySet<string>,
): { readonly name: string; readonly value: string }[] {
  const free = idMembers(command).filter(({ name }) => !given.has(name))
  return ids.map(value => {
    const kind = ID.exec(value)?.[1]
    const index = free.findIndex(({ idOf }) => idOf === kind)
    const [member] = index < 0 ? [] : free.splice(index, 1)
    if (!member)
      throw usageError(
        `${command.noun} ${command.verb} takes ${acceptedText(command)}, and not ${value}.${jsonText(command, value)}`,
      )
    return { name: member.name, value }
  })
}

const jsonText = ({ body }: CommandDefinition, value: string): string =>
  body && /^[{[]/.test(value) ? ' Write JSON after --body.' : ''

/** The remedy for an id of the path that was given as an option: as the API calls it (`--id`), or as what it is of (`--card-id`). */
export function pathIdText({ noun, verb, params }: CommandDefinition, option: string): string | undefined {
  const names = params.flatMap(({ name, example }) => [name, example.replace(/_.*/, 'Id')])
  const known = params.length === 0 ? [] : [...names, `${noun.replace(/s$/, '')}Id`].map(plainName)
  if (!known.includes(plainName(option))) return undefined
  const ids = params.map(({ example }) => example).join(' ')
  return ` Write ${params.map(nameOf).join(' ')} without an option: agentpay ${noun} ${verb} ${ids}`
}

/** What must be given: `<id> <policyId>`. */
export const requiredIdsText = (command: CommandDefinition): string =>
  [...command.params, ...idMembers(command).filter(({ required }) => required)].map(nameOf).join(' ')

const nameOf = ({ name }: { readonly name: string }): string => `<${name}>`

function acceptedText(command: CommandDefinition): string {
  const optional = idMembers(command).filter(({ required }) => !required)
  const names = [requiredIdsText(command), ...optional.map(({ name }) => `[${name}]`)].filter(Boolean)
  return names.join(' ') || 'no ids'
}
