import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { ownAdvice } from '../../../../src/derive/docs/refusals.ts'
import { published } from '../../../../src/kernel/contract/area.ts'
import { problems } from '../../../../src/kernel/contract/problem.ts'
import { all, files, pages, raw } from './rendered-pages.ts'

describe('the documentation', () => {
  test('has a page for each guide, with its pictures and samples of the operations that it names', async () => {
    const guides = readdirSync('docs').filter(name => name.endsWith('.md'))
    const missing = guides.filter(name => !files.has(`/docs/guides/${name.replace('.md', '')}`))
    expect(missing).toEqual([])
    const page = String(files.get('/docs/guides/approvals')?.content)
    const [picture = ''] = all(page, / src="(\/docs\/assets\/approve-page-phone-light[^"]+)"/g)
    const served = await raw(picture, { 'accept-encoding': 'br' })
    expect(served.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': expect.stringContaining('immutable'),
    })
    expect(served.bytes.equals(readFileSync('docs/approve-page-phone-light.png'))).toBe(true)
    expect(page).toContain('pay.intents.approve(')
  })

  test('has a page for each code of a refusal, with each sentence and what to do', () => {
    const codes = published(areas).flatMap(({ operation: { fails = {} } }) => Object.keys(fails))
    const missing = [...codes, ...Object.keys(problems)].filter(code => !files.has(`/docs/errors/${code}`))
    expect(missing).toEqual([])
    const page = String(files.get('/docs/errors/wallet_needed')?.content)
    expect(page).toContain('you have more than one open wallet')
    expect(page).toContain('href="/docs/agents#agents.fund"')
    expect(page).toContain('<p>Name the one that pays.</p>')
    expect(Object.keys(ownAdvice).filter(code => !codes.includes(code))).toEqual([])
    const mute = pages.filter(
      ([address, { content }]) => /\/errors\/./.test(address) && /<p><\/p>/.test(content),
    )
    expect(mute.map(([address]) => address)).toEqual([])
  })
})
