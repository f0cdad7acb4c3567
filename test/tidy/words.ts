import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../support/tidy/sources.ts'

/** Words that a payments engineer would not use, each with the better one. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  // `nobody` in quotes is the user of Unix.
  [
    /(?<!['"`])\b([Nn]obody|[Ss]omebody)\b(?!['"`])/,
    'name the state (“No webhooks yet”) or the role that acts (“an approver”)',
  ],
  [/\b(who|what)ever\b/i, 'name the role or the thing'],
  [/\b(is|are|was|were|be|been|being) told\b/i, 'notified, sent, shown'],
  [/\bforet(old|ell|ells|elling)\b/i, 'forecast'],
  [/\bin vain\b/i, 'failed'],
  [/\bof which there\b/i, 'begin a new sentence'],
  [/\bwhat comes of (it|them|that)\b/i, 'the result, the outcome'],
  [/\bso much is\b/i, 'name the amount'],
  [/\bis dear\b/i, 'expensive'],
  [/\bby and by\b/i, 'gradually'],
  [/\b(ours|theirs) alone\b/i, 'name the owner'],
]

/** A comment whose first word makes it the rest of a sentence that is missing. */
const OPENING = /(?:\/\*\*?|^\s*(?:\/\/|--)) (?:Of|So|Whoever|For whom?|Whose) /

/** Signed, sealed or landed texts, and this list. */
const EXEMPT =
  /^(src\/(migrations|statements|trail)\/|docs\/changelog\.md|test\/tidy\/words\.ts|test\/.*fixtures\/|openapi\.json)/

const files = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mjs', '*.js', '*.css', '*.sql', '*.md', 'examples'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
  .filter(path => !EXEMPT.test(path))

/** Tests name people and values freely: only their comments are read. */
const isRead = (path: string, line: string): boolean =>
  !path.startsWith('test/') || /^\s*(\/\*\*|\*|\/\/) /.test(line)

const wordsIn = (line: string): string[] => [
  ...REFUSED.flatMap(([pattern, better]) => {
    const found = pattern.exec(line)
    return found ? [`“${found[0]}” → ${better}`] : []
  }),
  ...(OPENING.test(line) ? ['begin the comment with its subject'] : []),
]

test('comments, refusals, pages and docs use the words of the trade', () => {
  const wrong = files.flatMap(path =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        (isRead(path, line) ? wordsIn(line) : []).map(problem => `${path}:${index + 1} ${problem}`),
      ),
  )
  expect(wrong).toEqual([])
})
