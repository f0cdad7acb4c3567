/** A part of `npm run verify`: a script of package.json. */
export interface Part {
  readonly script: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Jest tries a file of tests again by itself; a program runs once more as a whole. */
  readonly isProgram: boolean
}

const short = (script: string, env: Part['env'] = {}): Part => ({
  script,
  args: ['--short'],
  env,
  isProgram: true,
})

const bench = (name: string): Part => ({
  script: 'bench',
  args: [name],
  env: { BENCH_SHORT: '1' },
  isProgram: true,
})

/** In the order in which they run: what falls most often comes first. */
export const parts: Readonly<Record<string, Part>> = {
  slow: { script: 'test:slow', isProgram: false },
  peers: { script: 'test:peers', isProgram: false },
  topology: short('topology'),
  drill: short('drill', { DRILL_OLDER: 'released' }),
  builds: short('builds'),
  'bench-price': bench('price'),
  'bench-tracing': bench('tracing'),
  'bench-sizes': bench('sizes'),
  'bench-soak': bench('soak'),
  'bench-cells': bench('cells'),
  'bench-peers': bench('peers'),
}
