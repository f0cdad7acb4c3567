import { describe, expect, test } from '@jest/globals'
import type { OperationEntry } from '../../../src/derive/docs/book.ts'
import { renderMarkdown } from '../../../src/derive/docs/markdown.ts'
import { highlightCode } from '../../../src/derive/docs/panel.ts'
import { printJson, printTypescript } from '../../../src/derive/docs/print.ts'
import { curlSample, pythonSample, typescriptSample } from '../../../src/derive/docs/samples.ts'
import { describeChoices, describeConstraints, describeType } from '../../../src/derive/docs/schema-words.ts'
import type { OperationObject } from '../../../src/derive/openapi/types.ts'
import { html } from '../../../src/web/html.ts'

const textOf = (content: Parameters<typeof html>[1]): string => html`${content}`.text

describe('an html template', () => {
  test('escapes what is not markup, in texts and in attributes', () => {
    const evil = `<script>"&'`
    expect(html`<a title="${evil}">${evil}</a>`.text).toBe(
      '<a title="&lt;script&gt;&quot;&amp;&#39;">&lt;script&gt;&quot;&amp;&#39;</a>',
    )
  })

  test('keeps markup, joins lists, and omits false and undefined', () => {
    expect(html`<p>${[html`<b>${1}</b>`, ' & ', false, undefined]}</p>`.text).toBe('<p><b>1</b> &amp; </p>')
  })
})

describe('markdown', () => {
  test('has paragraphs, code and strong text, and escapes markup in them', () => {
    expect(textOf(renderMarkdown('One `<b>`.\n\n**Two** <i>'))).toBe(
      '<p>One <code>&lt;b&gt;</code>.</p><p><strong>Two</strong> &lt;i&gt;</p>',
    )
  })

  test('links to served pages, and leaves example addresses as text', () => {
    const text = '[Money](/docs/money), [x](javascript:alert) and https://shop.example.com <!-- hidden -->'
    expect(textOf(renderMarkdown(text))).toBe(
      '<p><a href="/docs/money">Money</a>, x and https://shop.example.com </p>',
    )
  })

  test('has lists, with items over several lines, and tables', () => {
    expect(textOf(renderMarkdown('- a\n  b\n- c'))).toBe('<ul><li>a\nb</li><li>c</li></ul>')
    expect(textOf(renderMarkdown('| A |\n|---|\n| `x` |'))).toContain('<td><code>x</code></td>')
  })
})

describe('a printed value', () => {
  const value = { name: "It's", 'a-b': [1, 2], deep: { text: 'x'.repeat(60), none: null } }

  test('is valid JSON', () => {
    expect(JSON.parse(printJson(value))).toEqual(value)
    expect(printJson({ a: { b: [1] }, c: {} })).toBe('{\n  "a": { "b": [1] },\n  "c": {}\n}')
    expect(printJson({})).toBe('{}')
  })

  test('is valid TypeScript', () => {
    expect(new Function(`return (${printTypescript(value)})`)()).toEqual(value)
    expect(printTypescript({ a: 1, 'b-c': 'd' })).toBe("{ a: 1, 'b-c': 'd' }")
  })
})

test('highlighting changes no character of the code', () => {
  const code = `curl -X POST "$URL" \\\n  -d '{ "a": [1, null] }' # so`
  const plain = textOf(highlightCode(code, 'shell')).replace(/<[^>]+>/g, '')
  expect(plain).toBe(textOf(code))
  expect(textOf(highlightCode('{"a": -1.5}', 'json'))).toBe(
    '{<span class="c-key">&quot;a&quot;</span>: <span class="c-number">-1.5</span>}',
  )
})

describe('the words for a schema', () => {
  test.each([
    [{ type: 'string' }, 'string'],
    [{ type: ['integer', 'null'] }, 'integer or null'],
    [{ type: 'string', format: 'date-time' }, 'instant'],
    [{ type: 'string', examples: ['agent_01jd8x2m4ye7k9v0c3q5r6t8wz'] }, 'agent id'],
    [{ type: 'array', items: { type: 'string', format: 'uri' } }, 'array of URLs'],
    [{ type: 'array', items: {} }, 'array of anything'],
    [{}, 'any'],
  ])('call %j %s', (schema, expected) => expect(describeType(schema)).toBe(expected))

  test.each([
    [{ type: 'string', minLength: 1 }, ['not empty']],
    [{ type: 'string', minLength: 2, maxLength: 1000 }, ['2 to 1,000 characters']],
    [
      { type: 'integer', minimum: 1, maximum: 2_147_483_647, default: null },
      ['at least 1', 'default `null`'],
    ],
    [{ type: 'number', exclusiveMinimum: 0 }, ['more than 0']],
    [
      { type: 'array', minItems: 1, items: { enum: ['a', 'b'] } },
      ['at least 1 item', 'each one of `a`, `b`'],
    ],
    [{ type: 'string', maxLength: 128, examples: ['agent_01jd8x2m4ye7k9v0c3q5r6t8wz'] }, []],
  ])('describe the constraints of %j as %j', (schema, expected) =>
    expect(describeConstraints(schema)).toEqual(expected),
  )

  test('do not list null among the choices', () => expect(describeChoices({ enum: ['a', null] })).toBe('`a`'))
})

describe('a code sample', () => {
  const entry = (
    method: string,
    path: string,
    operation: Partial<OperationObject>,
    members: Partial<OperationEntry> = {},
  ): OperationEntry => ({
    key: 'things.act',
    method,
    path,
    parameters: [],
    success: ['200', { description: '', content: {} }],
    refusals: [],
    operation: { security: [{ apiKey: [] }], ...operation } as OperationObject,
    ...members,
  })
  const requestBody = { required: true, content: { 'application/json': { example: { name: "Ada's" } } } }
  const parameters = [
    { name: 'id', in: 'path', schema: {}, example: 'thing_1' },
    { name: 'limit', in: 'query', schema: { default: 20 } },
    { name: 'cursor', in: 'query', schema: {} },
  ] as const

  test('has a body that can be pasted into a shell', () => {
    expect(curlSample(entry('POST', '/things', { requestBody }))).toBe(
      `curl "$URL/things" \\
  -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
    "name": "Ada'\\''s"
  }'`,
    )
  })

  test('fills in the parameters of the address and the page size', () => {
    const list = entry('GET', '/things/{id}/parts', { security: [{ agentToken: [] }] }, { parameters })
    expect(curlSample(list)).toBe(
      'curl "$URL/things/thing_1/parts?limit=20" \\\n  -H "Authorization: Bearer $TOKEN"',
    )
    expect(typescriptSample(list)).toBe(
      "for await (const one of pay.things.act('thing_1', { limit: 20 })) console.log(one)",
    )
    expect(pythonSample(list)).toBe('for one in pay.things.act("thing_1", {"limit": 20}):\n    print(one)')
  })

  test('names a method that curl would not guess, and takes no result where none is returned', () => {
    const deletion = entry(
      'DELETE',
      '/things/{id}',
      { security: [] },
      { parameters: parameters.slice(0, 1), success: ['204', { description: '' }] },
    )
    expect(curlSample(deletion)).toMatch(/^curl -X DELETE "/)
    expect(typescriptSample(deletion)).toBe("await pay.things.act('thing_1')")
    expect(pythonSample(deletion)).toBe('pay.things.act("thing_1")')
  })
})
