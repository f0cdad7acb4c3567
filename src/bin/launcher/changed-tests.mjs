import { spawnSync } from 'node:child_process'

export function changedFiles() {
  const base = [
    ['merge-base', 'HEAD', 'main'],
    ['merge-base', 'HEAD', 'origin/main'],
    ['rev-parse', 'HEAD'],
  ]
    .map(args => git(args)?.[0])
    .find(Boolean)
  const changed = base && git(['diff', '--name-only', base])
  const added = git(['ls-files', '--others', '--exclude-standard'])
  const files = git(['ls-files'])
  if (!changed || !added || !files)
    throw new Error('What has changed is asked of git: this is no checkout of it.')
  return { changed: [...changed, ...added], files: [...files, ...added] }
}

function git(args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return status === 0 ? stdout.split('\n').filter(Boolean) : undefined
}

/**
 * Finds the tests for a change. Business tests reach everything through the service, so imports would relate
 * each source to nearly all of them. Instead, a source belongs to the tests of its noun, which have the same
 * path below `test`. `nouns` are those whose operations have contract tests; `untested` lists sources without
 * a test of their own.
 */
export function testsOf(changed, files) {
  const known = new Set(files)
  const tests = files.filter(isCommitTier)
  const found = changed.map(path => ({ path, own: testsOfOne(path, tests, known) }))
  return {
    tests: [...new Set(found.flatMap(({ own }) => own))].sort(),
    nouns: [...new Set(changed.flatMap(nounsOf))].sort(),
    untested: found.filter(({ path, own }) => own.length === 0 && isCode(path)).map(({ path }) => path),
  }
}

const isCommitTier = path =>
  /^test\/.*\.test\.ts$/.test(path) && !/\.slow\.test\.ts$/.test(path) && !path.startsWith('test/peers/')

const isCode = path => /^(src|test|workflows|activities)\/.*\.(ts|mjs|js|sql)$/.test(path)

const BESIDE = [
  [/^workflows\/|\/process\.ts$/, ['test/workflows/replay.test.ts']],
  [
    /\/(api|schemas)\.ts$|-api\.ts$|^openapi\.json$|^commands\.json$/,
    ['test/derive/openapi/document.test.ts', 'test/contract-text.test.ts'],
  ],
  [/^src\/migrations\//, ['test/schema.test.ts']],
  [/^docs\//, ['test/pages.test.ts']],
]

function testsOfOne(path, tests, known) {
  const beside = BESIDE.flatMap(([pattern, others]) => (pattern.test(path) ? others : []))
  return [...tests.filter(test => isOf(path, test, known)), ...beside.filter(test => tests.includes(test))]
}

/**
 * Whether the test belongs to the file: `src/control/runs/run.ts` is tested by `test/control/runs.test.ts`
 * and by the files in `runs/`.
 */
function isOf(path, test, known) {
  if (path === test) return true
  const [top, ...rest] = path.replace(/\.\w+$/, '').split('/')
  if (top === 'test') return isPartOf(path, test)
  const below = top === 'src' ? rest : [top, ...rest]
  const noun = below.slice(0, 2).join('/')
  if (!isCode(path) || below.length < 2) return false
  const name = test.replace(/^test\//, '').replace(/\.test\.ts$/, '')
  if (name === noun || name.startsWith(`${noun}/`)) return true
  return name.startsWith(`${noun}-`) && !isNoun(name, known)
}

const isNoun = (name, known) => [...known].some(path => path.startsWith(`src/${name}/`))

const isPartOf = (path, test) => path.startsWith(`${test.replace(/\.test\.ts$/, '')}/`)

function nounsOf(path) {
  const [, , ...names] = /^src\/.*\//.test(path) ? path.split('/').slice(0, -1) : []
  return names.map(name => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()))
}
