import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../src/areas.ts'
import { headingSlug, parseMarkdownBlocks, SETTING_NAME_PATTERN } from '../src/derive/docs/markdown.ts'
import { publishedOperations } from '../src/kernel/contract/area.ts'

const INDEX = 'docs/README.md'

const markdownBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name))

const docs = markdownBelow('docs')
const subjects = docs.filter(path => path !== INDEX && !path.startsWith('docs/decisions/'))
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs, ...markdownBelow('examples')].map(
  path => ({ path, text: readFileSync(path, 'utf8') }),
)

interface Link {
  readonly path: string
  readonly to: string
  readonly anchor: string | undefined
}

const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```|`[^`\n]*`/g, '')

/** Links of a page to other files and to its own headings, pictures included. */
const linksOf = ({ path, text }: { readonly path: string; readonly text: string }): Link[] =>
  [...withoutCode(text).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([, target = '', anchor]) => ({ path, to: target === '' ? path : join(dirname(path), target), anchor }),
  )

const links = pages.flatMap(linksOf)

/** The anchors of a page: its headings, and the settings that it explains. */
function anchorsOf(path: string): Set<string> {
  const blocks = parseMarkdownBlocks(readFileSync(path, 'utf8'))
  return new Set(
    blocks.flatMap(block => {
      if (block.type === 'heading') return [headingSlug(block.text)]
      if (block.type !== 'table') return []
      return block.rows.flatMap(([name]) => SETTING_NAME_PATTERN.exec(name?.text ?? '')?.[1] ?? [])
    }),
  )
}

describe('the documentation pages', () => {
  test('are all linked from docs/README.md', () => {
    const linked = new Set(links.filter(({ path }) => path === INDEX).map(({ to }) => to))
    const missing = subjects
      .filter(path => !linked.has(path))
      .map(path => `${path} is not linked from ${INDEX}. Add a row to the table of its purpose.`)
    expect(missing).toEqual([])
  })

  test('are found from the README by docs/README.md', () => {
    expect(links).toContainEqual(expect.objectContaining({ path: 'README.md', to: INDEX }))
  })

  test('have names of their own, which their addresses below /docs/guides are made of', () => {
    const names = subjects.map(path => path.split('/').at(-1))
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([])
  })

  test('list every decision in docs/decisions/README.md', () => {
    const linked = new Set(
      links.filter(({ path }) => path === 'docs/decisions/README.md').map(({ to }) => to),
    )
    const missing = docs
      .filter(path => /^docs\/decisions\/\d/.test(path) && !linked.has(path))
      .map(path => `${path} is not linked from docs/decisions/README.md. Add a row.`)
    expect(missing).toEqual([])
  })

  test('have no broken link', () => {
    expect(links.length).toBeGreaterThan(subjects.length)
    const broken = links
      .filter(({ to }) => !existsSync(to))
      .map(({ path, to }) => `${path} links to ${to}, which does not exist. Fix the link.`)
    expect(broken).toEqual([])
  })

  test('have no link to a heading that does not exist', () => {
    const toHeadings = links.filter(({ to, anchor }) => anchor !== undefined && to.endsWith('.md'))
    expect(toHeadings.length).toBeGreaterThan(20)
    const broken = toHeadings
      .filter(({ to, anchor = '' }) => existsSync(to) && !anchorsOf(to).has(anchor))
      .map(
        ({ path, to, anchor }) =>
          `${path} links to ${to}#${anchor}, but there is no such heading. Fix the link.`,
      )
    expect(broken).toEqual([])
  })

  test('name existing files and folders only', () => {
    const mentions = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|workflows|activities)\/[\w./-]*)`/g)].map(([, file]) => ({
        path,
        file: String(file),
      })),
    )
    expect(mentions.length).toBeGreaterThan(20)
    const missingFiles = mentions
      .filter(({ file }) => !existsSync(file))
      .map(({ path, file }) => `${path} names ${file}, which does not exist. Name its replacement.`)
    expect(missingFiles).toEqual([])
  })

  test('name existing operations only', () => {
    const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}')
    const knownOperations = new Set(
      publishedOperations(areas).map(({ operation: { method, path } }) => `${method} ${shapeOf(path)}`),
    )
    const mentions = pages.flatMap(({ text }) =>
      [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE)\s(\/[\w/{}-]+)/g)].map(
        ([, method, path]) => `${method} ${shapeOf(String(path))}`,
      ),
    )
    expect(mentions.length).toBeGreaterThan(30)
    expect(mentions.filter(mention => !knownOperations.has(mention))).toEqual([])
  })

  // Tables of settings, terms, dependencies and changes are looked up, not read.
  test('fit on three screens', () => {
    const LOOKED_UP =
      /^docs\/(README|changelog|glossary|runbook|reference\/(settings|dependencies|data-model))\.md$/
    const read = pages.filter(({ path }) => !path.startsWith('docs/decisions/') && !LOOKED_UP.test(path))
    const long = read
      .map(({ path, text }) => ({ path, words: withoutCode(text).split(/\s+/).length }))
      .filter(({ words }) => words > MOST_WORDS)
      .map(({ path, words }) => `${path} has ${words} words. Split it, so that it has ${MOST_WORDS} at most.`)
    expect(long).toEqual([])
  })

  test('have no paragraph above 80 words', () => {
    const long = pages
      .filter(({ path }) => !path.startsWith('docs/decisions/') && path !== 'docs/changelog.md')
      .flatMap(({ path, text }) =>
        parseMarkdownBlocks(text)
          .filter(({ type, raw }) => type === 'paragraph' && raw.split(/\s+/).length > 80)
          .map(({ raw }) => `${path}: “${raw.slice(0, 60)}…” is too long. Split it.`),
      )
    expect(long).toEqual([])
  })
})

const MOST_WORDS = 900
