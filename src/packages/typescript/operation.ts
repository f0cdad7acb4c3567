/** What a call needs to know of its operation. */
export interface Operation {
  /** `intents.create` */
  readonly key: string
  readonly method: string
  readonly path: string
  /** The ids in the path, which a call gives first. */
  readonly params: readonly string[]
  /** What comes after the ids; nothing where the operation takes neither. */
  readonly input: 'query' | 'body' | undefined
  readonly takesKey: boolean
  /** Whether sending it twice has no more effect than once, even without a key. */
  readonly isRepeatable: boolean
  readonly answers: 'json' | 'list' | 'file' | 'stream'
}

/** By noun and verb: `{ intents: { create: 'POST /intents bk' } }`. The letters are those of `operationFrom`. */
export type OperationTable = Readonly<Record<string, Readonly<Record<string, string>>>>

export function operationFrom(key: string, line: string): Operation {
  const [method = '', path = '', letters = ''] = line.split(' ')
  const has = (letter: string): boolean => letters.includes(letter)
  return {
    key,
    method,
    path,
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    input: has('b') ? 'body' : has('q') ? 'query' : undefined,
    takesKey: has('k'),
    isRepeatable: has('r'),
    answers: has('l') ? 'list' : has('f') ? 'file' : has('s') ? 'stream' : 'json',
  }
}
