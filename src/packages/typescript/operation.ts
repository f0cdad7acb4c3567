export interface Operation {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly params: readonly string[]
  /** The argument after the ids; undefined if the operation takes neither. */
  readonly input: 'query' | 'body' | undefined
  /** Members that take an id, and the prefix of that id: `fromWalletId` and `wallet`. */
  readonly idMembers: readonly (readonly [prefix: string, member: string])[]
  readonly takesKey: boolean
  /** Whether a repetition has no further effect, even without an idempotency key. */
  readonly isRepeatable: boolean
  /** Whether it goes on after its answer where its caller does not wait. */
  readonly mayGoOn: boolean
  readonly answers: 'json' | 'list' | 'file' | 'stream'
  /** Whether it asks for CSV in place of JSON. */
  readonly isCsv: boolean
}

/**
 * By noun and verb: `{ cards: { fund: 'POST /cards/{id}/fund bk wallet:fromWalletId' } }`. `operationFrom` reads the letters;
 * then come the members that take an id.
 */
export type OperationTable = Readonly<Record<string, Readonly<Record<string, string>>>>

export function operationFrom(key: string, line: string): Operation {
  const [method = '', path = '', letters = '', ids = ''] = line.split(' ')
  const has = (letter: string): boolean => letters.includes(letter)
  return {
    key,
    method,
    path,
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    input: has('b') ? 'body' : has('q') ? 'query' : undefined,
    idMembers: [...ids.matchAll(/(\w+):(\w+)/g)].map(([, prefix = '', member = '']) => [prefix, member]),
    takesKey: has('k'),
    isRepeatable: has('r'),
    mayGoOn: has('a'),
    isCsv: has('c'),
    answers: has('l') ? 'list' : has('f') ? 'file' : has('s') ? 'stream' : 'json',
  }
}
