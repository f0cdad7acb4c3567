import { otherTextName } from '../../values/text-names.ts'
import type { BodyMember, CommandDefinition, ValueShape } from '../table.ts'

type Path = readonly (string | number)[]

export interface MemberOption {
  readonly part: 'query' | 'body'
  /** The member names and list indexes to the value: `limits.dailyEuros` is two steps. */
  readonly path: Path
  readonly shape: ValueShape
}

/** The prefix for a member with the same name as an option of the command: `--member.body`. */
export const MEMBER_PREFIX = 'member.'

/** `--amount-euros` equals `amountEuros`. */
export const plainName = (name: string): string => name.replaceAll('-', '').toLowerCase()

const named = (members: readonly BodyMember[], name: string): BodyMember | undefined =>
  members.find(member => member.name === name) ??
  members.find(member => plainName(member.name) === plainName(name))

export function findMemberOption(command: CommandDefinition, option: string): MemberOption | undefined {
  const path = (option.startsWith(MEMBER_PREFIX) ? option.slice(MEMBER_PREFIX.length) : option).split('.')
  return (
    placeIn('query', command.query, path) ??
    placeIn('body', command.body?.members ?? [], path) ??
    textPlace(command, path)
  )
}

/** `--comment` where the operation calls its text `reason`, and the other way round, as the service takes them. */
function textPlace(
  { query, body }: CommandDefinition,
  [name = '', ...rest]: readonly string[],
): MemberOption | undefined {
  const other = otherTextName(name)
  if (other === undefined || rest.length > 0) return undefined
  const place = placeIn('query', query, [other]) ?? placeIn('body', body?.members ?? [], [other])
  return place?.shape.types[0] === 'string' && !place.shape.choices ? place : undefined
}

function placeIn(
  part: MemberOption['part'],
  members: readonly BodyMember[],
  [first = '', ...rest]: readonly string[],
): MemberOption | undefined {
  const member = named(members, first)
  if (!member) return undefined
  const inner = nestedMember(member, rest)
  return inner && { part, path: [member.name, ...inner.path], shape: inner.shape }
}

function nestedMember(
  shape: ValueShape,
  [first, ...rest]: readonly string[],
): Pick<MemberOption, 'path' | 'shape'> | undefined {
  if (first === undefined) return { path: [], shape }
  // The numbers of a form's fields contain dots.
  const dotted = shape.members?.find(({ name }) => name === [first, ...rest].join('.'))
  if (dotted) return { path: [dotted.name], shape: dotted }
  const member = named(shape.members ?? [], first)
  const isIndex = shape.items !== undefined && /^\d{1,3}$/.test(first)
  const next = member ?? (isIndex ? shape.items : shape.values)
  if (!next || first === '') return undefined
  const inner = nestedMember(next, rest)
  const step = member?.name ?? (isIndex ? Number(first) : first)
  return inner && { path: [step, ...inner.path], shape: inner.shape }
}

export const memberOptions = (command: CommandDefinition): string[] => [
  ...command.query.map(({ name }) => name),
  ...(command.body?.members ?? []).flatMap(member => optionsBelow(member)),
]

const optionsBelow = (member: BodyMember): string[] => [
  member.name,
  ...(member.members ?? []).flatMap(inner => optionsBelow(inner).map(name => `${member.name}.${name}`)),
]

type Container = Record<string, unknown> | unknown[]

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

export function setMember(root: Record<string, unknown>, path: Path, value: unknown): void {
  let container: Container = root
  for (const [depth, step] of path.slice(0, -1).entries()) {
    const inner = valueAt(container, step)
    const next: Container = isContainer(inner) ? inner : typeof path[depth + 1] === 'number' ? [] : {}
    define(container, step, next)
    container = next
  }
  define(container, path.at(-1) ?? '', value)
}

const valueAt = (container: Container, step: string | number): unknown =>
  Object.hasOwn(container, step) ? Reflect.get(container, step) : undefined

/** Safe for every name, `__proto__` included. */
function define(container: Container, step: string | number, value: unknown): void {
  Object.defineProperty(container, step, { value, writable: true, enumerable: true, configurable: true })
}
