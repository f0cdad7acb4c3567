import { usageError } from '../io.ts'
import type { BodyMember, CommandDefinition } from '../table.ts'

const ID = /^([a-z]+)_\w+$/

/** The members that take an id without their option, since an id says what it is of. Required ones come first. */
export function idMembers({ query, body }: CommandDefinition): BodyMember[] {
  const ids = [...query, ...(body?.members ?? [])].filter(
    ({ types, idOf }) => types[0] === 'string' && idOf !== undefined,
  )
  return [...ids.filter(({ required }) => required), ...ids.filter(({ required }) => !required)]
}

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
      throw usageError(`${command.noun} ${command.verb} takes ${acceptedText(command)}, and not ${value}.`)
    return { name: member.name, value }
  })
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
