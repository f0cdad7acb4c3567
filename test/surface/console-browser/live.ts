import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { agentNamed, anOwnerAtThePage, textIn } from './trial-service.ts'

/** What is selected in the field that has the focus. */
const SELECTED = `(({ value, selectionStart, selectionEnd }) =>
  value?.slice(selectionStart, selectionEnd))(document.activeElement)`

describe('a live part', () => {
  test('shows what has happened, and keeps what was typed, the focus and the selection', async () => {
    const { client, page, complaints } = await anOwnerAtThePage()
    await agentNamed(client, 'Scout')
    await textIn(page, '#agents li', 'Scout: active')
    const reason = page.locator('#agents li').filter({ hasText: 'Scout' }).getByLabel('Reason')
    await reason.fill('Too curious')
    await page.evaluate('document.activeElement.setSelectionRange(4, 7)')
    expect(await page.evaluate(SELECTED)).toBe('cur')
    const { id } = await agentNamed(client, 'Miner')
    await textIn(page, '#agents li:first-child', 'Miner: active')
    await bodyOf(client.agents.freeze({ params: { id }, body: {} }))
    await textIn(page, '#agents li:first-child', 'Miner: frozen')
    expect(await reason.inputValue()).toBe('Too curious')
    expect(await page.evaluate(SELECTED)).toBe('cur')
    expect(complaints).toEqual([])
  })
})
