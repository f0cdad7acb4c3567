import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { openLocalSecrets } from '../../../src/dev/secrets.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { command } from '../../support/processes/service-process.ts'

describe('npm run reset', () => {
  test('finishes an interrupted reset and removes the empty directory', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    mkdirSync(dataDir)
    openLocalSecrets(dataDir)
    expect(await command('reset', dataDir).exit).toBe(0)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('removes uploaded files with the data', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    mkdirSync(join(dataDir, 'files/customer_1/test'), { recursive: true })
    writeFileSync(join(dataDir, 'files/customer_1/test/a'), 'sealed')
    openLocalSecrets(dataDir)
    expect(await command('reset', dataDir).exit).toBe(0)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('does nothing where there is no data', async () => {
    const reset = command('reset', join(temporaryFolder(), 'data'))
    expect(await reset.exit).toBe(0)
    expect(reset.output()).toContain('no data')
  })

  test('refuses a directory that is not a data directory', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'postgres'))
    writeFileSync(join(folder, 'letter.txt'), 'Dear Sir')
    const reset = command('reset', folder)
    expect(await reset.exit).toBe(1)
    expect(readdirSync(folder).sort()).toEqual(['letter.txt', 'postgres'])
  })
})
