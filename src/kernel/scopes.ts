const nouns = ['agents', 'audit', 'customers', 'events', 'keys', 'policies', 'tokens'] as const

/** Every right a credential can carry. A test compares this list with what the contracts ask for. */
export type Scope = `${(typeof nouns)[number]}:${'read' | 'write'}`

const access = ['read', 'write'] as const

export const scopes = nouns.flatMap(noun => access.map(right => `${noun}:${right}` as const)) satisfies Scope[]
