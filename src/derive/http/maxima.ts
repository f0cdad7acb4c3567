import { z } from 'zod'
import { type Issue, mustBe } from './issue-words.ts'

type Schema = z.core.$ZodTypes
type Path = readonly PropertyKey[]

/** Options of zod: our messages, with the input. */
export const told = { error: mustBe, reportInput: true } as const

const issuesIn = (schema: z.core.$ZodType, value: unknown, at: Path): Issue[] =>
  (z.safeParse(schema, value, told).error?.issues ?? []).map(issue => ({
    ...(issue as Issue),
    path: [...at, ...issue.path],
  }))

/**
 * Measures before anything is read: zod reads every item of a list before it asks how many there are, and a whole text
 * before it asks how long it is. The items of a long list are read here, until there are problems enough.
 */
export class Measure {
  readonly issues: Issue[] = []
  readonly #enough: number

  constructor(enough: number) {
    this.#enough = enough
  }

  take(schema: z.core.$ZodType, value: unknown, path: Path = []): void {
    if (value === undefined || value === null || this.issues.length >= this.#enough) return
    const { def } = (schema as Schema)._zod
    if (def.type === 'string') this.#takeText(schema, value, path)
    else if (def.type === 'array') this.#takeList(schema, def.element, value, path)
    else if (def.type === 'record') this.#takeRecord(schema, def.valueType, value, path)
    else if (def.type === 'object') this.#takeObject(def.shape, value, path)
    else if (def.type === 'pipe') this.take(isTransform(def.in) ? def.out : def.in, value, path)
    else if ('innerType' in def) this.take(def.innerType, value, path)
  }

  #takeText(schema: z.core.$ZodType, value: unknown, path: Path): void {
    if (typeof value === 'string') this.#fits(schema, 'string', value, value.length, path)
  }

  #takeList(schema: z.core.$ZodType, item: z.core.$ZodType, value: unknown, path: Path): void {
    if (!Array.isArray(value) || !this.#fits(schema, 'array', value, value.length, path)) return
    this.#takeItems(item, value.entries(), value.length, path)
  }

  #takeRecord(schema: z.core.$ZodType, item: z.core.$ZodType, value: unknown, path: Path): void {
    if (!isObject(value)) return
    const names = Object.keys(value)
    if (!this.#fits(schema, 'record', value, names.length, path)) return
    this.#takeItems(item, Object.entries(value), names.length, path)
  }

  #takeObject(shape: z.core.$ZodShape, value: unknown, path: Path): void {
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(shape)) this.take(member, value[name], [...path, name])
  }

  #takeItems(
    schema: z.core.$ZodType,
    items: Iterable<[PropertyKey, unknown]>,
    count: number,
    path: Path,
  ): void {
    for (const [key, item] of items) {
      const before = this.issues.length
      if (before >= this.#enough) return
      const place = [...path, key]
      this.take(schema, item, place)
      if (count > this.#enough && this.issues.length === before)
        this.issues.push(...issuesIn(schema, item, place))
    }
  }

  #fits(schema: z.core.$ZodType, origin: Origin, input: unknown, size: number, path: Path): boolean {
    const { maximum, words } = maximumOf(schema)
    if (size <= maximum) return true
    const issue = { code: 'too_big', origin, maximum, input, path }
    this.issues.push({ ...issue, message: words ?? mustBe(issue) })
    return false
  }
}

type Origin = 'string' | 'array' | 'record'

interface Maximum {
  readonly maximum: number
  /** The contract’s own message for it, if it has one. */
  readonly words: string | undefined
}

const maxima = new WeakMap<z.core.$ZodType, Maximum>()

/** The maximum length of a text, list or record. */
function maximumOf(schema: z.core.$ZodType): Maximum {
  const known = maxima.get(schema) ?? readMaximum(schema)
  maxima.set(schema, known)
  return known
}

function readMaximum(schema: z.core.$ZodType): Maximum {
  const [maxLength] = ((schema as Schema)._zod.def.checks ?? []).flatMap(({ _zod: { def } }) =>
    isMaxLength(def) ? [def] : [],
  )
  const words = maxLength?.error?.({} as never)
  return {
    maximum:
      maxLength?.maximum ?? (z.globalRegistry.get(schema)?.maxProperties as number | undefined) ?? Infinity,
    words: typeof words === 'string' ? words : words?.message,
  }
}

const isMaxLength = (def: z.core.$ZodCheckDef): def is z.core.$ZodCheckMaxLengthDef =>
  def.check === 'max_length'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTransform = (schema: z.core.$ZodType): boolean => (schema as Schema)._zod.def.type === 'transform'
