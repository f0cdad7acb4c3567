import type { Command, Member, Shape } from '../table.ts'

type Path = readonly (string | number)[]

/** A place in the query or the body that an option names. */
export interface Place {
  readonly part: 'query' | 'body'
  /** The names on the way, `limits.dailyEuros` is two, and the numbers in lists. */
  readonly path: Path
  readonly shape: Shape
}

/** Before the name of a member that is called like an option of the command: `--member.body`. */
export const MEMBER = 'member.'

/** `--amount-euros` is `amountEuros`, too. */
const plain = (name: string): string => name.replaceAll('-', '').toLowerCase()

const named = (members: readonly Member[], name: string): Member | undefined =>
  members.find(member => member.name === name) ?? members.find(member => plain(member.name) === plain(name))

/** The member that an option names, without its hyphens; undefined if there is none. */
export function findPlace(command: Command, option: string): Place | undefined {
  const path = (option.startsWith(MEMBER) ? option.slice(MEMBER.length) : option).split('.')
  return placeIn('query', command.query, path) ?? placeIn('body', command.body?.members ?? [], path)
}

function placeIn(
  part: Place['part'],
  members: readonly Member[],
  [first = '', ...rest]: readonly string[],
): Place | undefined {
  const member = named(members, first)
  if (!member) return undefined
  const inner = innerPlace(member, rest)
  return inner && { part, path: [member.name, ...inner.path], shape: inner.shape }
}

/** Follows the names below a member: members of objects, free names of records, numbers of lists. */
function innerPlace(
  shape: Shape,
  [first, ...rest]: readonly string[],
): Pick<Place, 'path' | 'shape'> | undefined {
  if (first === undefined) return { path: [], shape }
  // The numbers of a form's fields have dots in them.
  const dotted = shape.members?.find(({ name }) => name === [first, ...rest].join('.'))
  if (dotted) return { path: [dotted.name], shape: dotted }
  const member = named(shape.members ?? [], first)
  const isIndex = shape.items !== undefined && /^\d{1,3}$/.test(first)
  const next = member ?? (isIndex ? shape.items : shape.values)
  if (!next || first === '') return undefined
  const inner = innerPlace(next, rest)
  const step = member?.name ?? (isIndex ? Number(first) : first)
  return inner && { path: [step, ...inner.path], shape: inner.shape }
}

/** The names of all options that the members of a command have. */
export const memberOptions = (command: Command): string[] => [
  ...command.query.map(({ name }) => name),
  ...(command.body?.members ?? []).flatMap(member => optionsBelow(member)),
]

const optionsBelow = (member: Member): string[] => [
  member.name,
  ...(member.members ?? []).flatMap(inner => optionsBelow(inner).map(name => `${member.name}.${name}`)),
]

type Container = Record<string, unknown> | unknown[]

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** Puts a value to its place; objects and lists on the way are made where they are missing. */
export function putAt(root: Record<string, unknown>, path: Path, value: unknown): void {
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

/** A name such as `__proto__` is a name like any other. */
function define(container: Container, step: string | number, value: unknown): void {
  Object.defineProperty(container, step, { value, writable: true, enumerable: true, configurable: true })
}
