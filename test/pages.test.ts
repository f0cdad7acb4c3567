import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../src/areas.ts'
import { published } from '../src/kernel/contract/area.ts'

const subjects = readdirSync('docs').filter(name => name.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', ...subjects.map(name => `docs/${name}`)].map(path => ({
  path,
  text: readFileSync(path, 'utf8'),
}))
const readme = readFileSync('README.md', 'utf8')

describe('the documentation pages', () => {
  test('are all linked from the README', () => {
    const missing = subjects
      .filter(name => !readme.includes(`](docs/${name})`))
      .map(name => `docs/${name} is not in the README. Add a row to its table of pages.`)
    expect(missing).toEqual([])
  })

  test('have no broken link', () => {
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, to]) => ({
        path,
        to: join(dirname(path), String(to)),
      })),
    )
    expect(links.length).toBeGreaterThan(subjects.length)
    const broken = links
      .filter(({ to }) => !existsSync(to))
      .map(({ path, to }) => `${path} links to ${to}, which is not there. Mend the link.`)
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
      .map(({ path, file }) => `${path} names ${file}, which is not there. Name what took its place.`)
    expect(missingFiles).toEqual([])
  })

  test('name existing operations only', () => {
    const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}')
    const knownOperations = new Set(
      published(areas).map(({ operation: { method, path } }) => `${method} ${shapeOf(path)}`),
    )
    const mentions = pages.flatMap(({ text }) =>
      [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE)\s(\/[\w/{}-]+)/g)].map(
        ([, method, path]) => `${method} ${shapeOf(String(path))}`,
      ),
    )
    expect(mentions.length).toBeGreaterThan(30)
    expect(mentions.filter(mention => !knownOperations.has(mention))).toEqual([])
  })
})
