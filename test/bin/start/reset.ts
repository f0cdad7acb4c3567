import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { openSecrets } from '../../../src/dev/secrets.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { command } from '../../support/processes/service-process.ts'

describe('reset', () => {
  test('takes up what was interrupted, and removes a directory in which nothing is left', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    mkdirSync(dataDir)
    openSecrets(dataDir)
    expect(await command('reset', dataDir).exit).toBe(0)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('has nothing to do where there is nothing', async () => {
    const reset = command('reset', join(temporaryFolder(), 'data'))
    expect(await reset.exit).toBe(0)
    expect(reset.output()).toContain('no data')
  })

  test('leaves a directory alone that is not a data directory', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'postgres'))
    writeFileSync(join(folder, 'letter.txt'), 'Dear Sir')
    const reset = command('reset', folder)
    expect(await reset.exit).toBe(1)
    expect(readdirSync(folder).sort()).toEqual(['letter.txt', 'postgres'])
  })
})
