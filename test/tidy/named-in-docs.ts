import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { readSources, root } from '../support/tidy/sources.ts'

const PAGE = 'docs/contributing/payment-paths.md'
const FOLDER = /^ [A-Z]+ \/.*(src\/[\w/-]+)$/m
const LINE = /^[ │├─]*([\w/-]+(?:\.ts|\/[\w-]+))\s+(\w+)(?:\.(\w+))?\s/gm

/** Each line of each picture: a file of the picture's folder, or a noun, and its function, perhaps a step of it. */
const lines = readFileSync(join(root, PAGE), 'utf8')
  .split(/^## /m)
  .flatMap(section => {
    const folder = FOLDER.exec(section)?.[1] ?? ''
    return [...section.matchAll(LINE)].map(([, place = '', name = '', step]) => {
      const file = place.endsWith('.ts') ? join(folder, place) : join(place, 'index.ts')
      return { file, name, step }
    })
  })

test('the page of the paths of a payment names functions that exist', () => {
  expect(lines.length).toBeGreaterThan(25)
  const missing = lines.filter(({ file, name, step }) => {
    const text = existsSync(file) ? readFileSync(join(root, file), 'utf8') : ''
    const isExport = file.endsWith('/index.ts') && new RegExp(`\\b${name}\\b`).test(text)
    const isDeclared = new RegExp(`^(export )?(async )?(function|const) ${name}\\b`, 'm').test(text)
    return !(isExport || isDeclared) || (step && !new RegExp(`^  (async )?${step}[(:]`, 'm').test(text))
  })
  expect(
    missing.map(
      ({ file, name, step }) =>
        `${PAGE} names ${step ? `${name}.${step}` : name} of ${file}, which is not there. Name what took its place.`,
    ),
  ).toEqual([])
})

const folder = 'docs/contributing'

const wordsIn = (text: string): readonly string[] => text.match(/\w+/g) ?? []

test('the pages for contributors name parts of what has them', () => {
  const { files } = readSources()
  const named = readdirSync(join(root, folder)).flatMap(page =>
    [...readFileSync(join(root, folder, page), 'utf8').matchAll(/`(\w+)` of `(\w+)`/g)].map(
      ([, part = '', whole = '']) => ({ page, part, whole }),
    ),
  )
  expect(named.length).toBeGreaterThan(0)
  const missing = named.filter(({ part, whole }) => {
    const declares = new RegExp(`\\b(?:function|const|class|interface|type) ${whole}\\b`)
    return !files.some(({ text }) => declares.test(text) && wordsIn(text).includes(part))
  })
  expect(
    missing.map(
      ({ page, part, whole }) => `${folder}/${page}: ${whole} has no ${part}. Name what took its place.`,
    ),
  ).toEqual([])
})

test('the pages for contributors name identifiers that exist', () => {
  const known = new Set(readSources().files.flatMap(({ text }) => wordsIn(text)))
  const named = readdirSync(join(root, folder)).flatMap(page =>
    [...readFileSync(join(root, folder, page), 'utf8').matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(
      ([, name = '']) => ({
        page,
        name,
      }),
    ),
  )
  expect(named.length).toBeGreaterThan(20)
  const missing = named.filter(({ name }) => !known.has(name))
  expect(
    missing.map(
      ({ page, name }) => `${folder}/${page} names ${name}, which is nowhere. Name what took its place.`,
    ),
  ).toEqual([])
})
