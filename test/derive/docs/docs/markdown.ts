import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { publishedOperations } from '../../../../src/kernel/contract/area.ts'
import { service } from '../docs-service.ts'

describe('the documentation for readers that are not people', () => {
  const markdown = { accept: 'text/markdown' }
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const { status, headers: received, text } = await service.http('GET', path, { headers })
    return { status, type: received.get('content-type'), text }
  }

  test('begins with a list of all pages, each of which can be read', async () => {
    const { type, text } = await read('/llms.txt')
    expect([type, text.slice(0, 16)]).toEqual(['text/plain; charset=utf-8', '# Agent Payments'])
    const addresses = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, address = '']) => address)
    expect(addresses.length).toBeGreaterThan(50)
    const answers = await Promise.all(addresses.map(address => read(address)))
    expect(answers.map(({ status }) => status)).toEqual(addresses.map(() => 200))
  })

  test('serves each page of the reference as Markdown on request', async () => {
    for (const path of ['/docs', '/docs/agents', '/docs/event-types', '/v1/docs/agents']) {
      const asked = await read(path, markdown)
      expect([asked.status, asked.type]).toEqual([200, 'text/markdown; charset=utf-8'])
      expect(asked.text).toMatch(/^# /)
    }
    const { text } = await read('/docs/agents', markdown)
    expect(text).toContain('`POST /agents/{id}/freeze` · operation `agents.freeze`')
    expect(text).toContain("await pay.agents.freeze('agent_")
    expect(text).toContain('pay.agents.freeze("agent_')
    expect(await read('/docs/nowhere', markdown)).toMatchObject({ status: 404 })
  })

  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
    ['text/html, text/markdown', 'text/html'],
    ['text/markdown, text/html', 'text/markdown'],
    ['text/markdown;q=0.9', 'text/markdown'],
    ['*/*', 'text/html'],
  ])('for Accept “%s” is %s', async (accept, type) => {
    expect((await read('/docs', { accept })).type).toBe(`${type}; charset=utf-8`)
  })

  test('has every operation, how an assistant is connected, and the packages, in one text', async () => {
    const { text } = await read('/llms-full.txt')
    const missing = publishedOperations(areas).filter(({ key }) => !text.includes(`operation \`${key}\``))
    expect(missing.map(({ key }) => key)).toEqual([])
    expect(text).toContain('## Connect an assistant')
    expect(text).toContain('## Packages')
  })
})
