import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const LONGEST = 10

const inSource = readdirSync('src', { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => `src/${name}`)

test('each top folder has a README of at most ten lines', () => {
  const wrong = [...inSource, 'workflows', 'activities', 'test'].flatMap(folder => {
    const path = `${folder}/README.md`
    if (!existsSync(path))
      return `${path} is missing. Say in ${LONGEST} lines what lives there, and what does not belong there.`
    const lines = readFileSync(path, 'utf8').trim().split('\n').length
    return lines > LONGEST ? `${path} has ${lines} lines. Shorten it to ${LONGEST}.` : []
  })
  expect(wrong).toEqual([])
})
