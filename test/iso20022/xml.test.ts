import { describe, expect, test } from '@jest/globals'
import { elementsAt, parseXml, textAt, UnreadableXml } from '../../src/iso20022/xml-reader.ts'
import { quickestOf } from '../support/longest-turn.ts'

describe('a document is read', () => {
  test('as a tree of local names, with its texts and attributes', () => {
    const root = parseXml(
      '<?xml version="1.0"?><!-- of a bank --><b:a xmlns:b="urn:b"><b:c k="1">x<!-- y -->z</b:c><b:c/></b:a>',
    )
    expect([root.name, root.namespace]).toEqual(['a', 'urn:b'])
    const [first, second] = elementsAt(root, 'c')
    expect([first?.text, first?.attributes.get('k')]).toEqual(['xz', '1'])
    expect([second?.text, second?.children]).toEqual(['', []])
  })

  test('with the five predefined entities, character references and CDATA', () => {
    const { text } = parseXml('<a>&lt;&amp;&gt;&quot;&apos; &#252; &#x20AC; <![CDATA[<b>&amp;</b>]]></a>')
    expect(text).toBe(`<&>"' ü € <b>&amp;</b>`)
  })

  test('by paths, all elements or the first text', () => {
    const root = parseXml('<a><b><c>1</c></b><b><c> 2 </c><d/></b></a>')
    expect(elementsAt(root, 'b/c').map(({ text }) => text)).toEqual(['1', ' 2 '])
    expect(textAt(root, 'b/d', 'x', 'b/c')).toBe('1')
    expect([textAt(root, 'b/d'), textAt(root, 'x/y'), elementsAt(root, 'x/y')]).toEqual([null, null, []])
  })

  test('down to the deepest level allowed', () => {
    const nested = (levels: number) => '<a>'.repeat(levels) + '</a>'.repeat(levels)
    expect(parseXml(nested(32)).name).toBe('a')
    expect(() => parseXml(nested(33))).toThrow(/nested more than 32/)
  })
})

describe('a document is refused', () => {
  const many = (count: number, part: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => part(n)).join('')

  test.each([
    ['empty', '', 'It is empty (line 1).'],
    ['text alone', 'text', /well-formed/],
    ['two roots', '<a/><b/>', /continues after its end/],
    ['not closed', '<a>', /well-formed.*\(in a, line 1\)/],
    ['closed otherwise', '<a></b>', /well-formed/],
    ['with an attribute without a value', '<a b/>', /well-formed/],
    ['with an entity that it does not define', '<a>&b;</a>', /well-formed/],
    [
      'with an entity that it defines',
      '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
      /type is not accepted \(line 1\)/,
    ],
    [
      'with an entity that it defines in its midst',
      '<a>\n<!DOCTYPE a [<!ENTITY b "c">]>&b;</a>',
      /\(line 2\)/,
    ],
    ['with an entity that is elsewhere', '<!DOCTYPE a SYSTEM "a.dtd"><a/>', /type is not accepted/],
    [
      'of too many elements',
      `<a>${'<b/>'.repeat(200_001)}</a>`,
      /more than 200000 elements \(in a, line 1\)/,
    ],
    [
      'with an element of too many attributes',
      `<a>\n<b><c${many(33, n => ` x${n}=""`)}/></b></a>`,
      'The element c has more than 32 attributes (in a/b, line 2).',
    ],
    [
      'with a tag that is too long',
      `<a x="${'x'.repeat(20_000)}"/>`,
      /tag of a is longer than 8192 .*line 1/,
    ],
    [
      'with a text that is too long',
      `<a>\n${'x'.repeat(65_536)}</a>`,
      /text is longer than 65536 .*\(in a, line 2\)/,
    ],
    [
      'with a text in parts that is too long',
      `<a>${'x'.repeat(40_000)}<b/>${'&lt;'.repeat(30_000)}</a>`,
      /text is longer/,
    ],
    ['with a name that is too long', `<${'a'.repeat(100_000)}/>`, /longer than 65536/],
    ['with a comment that is too long', `<a><!--${'x'.repeat(100_000)}--></a>`, /longer than 65536/],
    ['with a reference that is too long', `<a>&${'x'.repeat(100_000)};</a>`, /longer than 65536/],
  ])('%s, with what and where', (_, text, message) => {
    const reading = () => parseXml(text)
    expect(reading).toThrow(UnreadableXml)
    expect(reading).toThrow(message)
  })

  test('but not for much space between its elements, which does not count as text', () => {
    const root = parseXml(`<a>${'<b/>        \n'.repeat(20_000)}</a>`)
    expect([root.children.length, root.text.trim()]).toEqual([20_000, ''])
  })
})

describe('parsing takes linear time', () => {
  const SIZE = 262_144
  const filled = (part: string, before: string, after: string) =>
    before + part.repeat(Math.floor(SIZE / part.length)) + after
  const usual = filled('<b c="d">e</b>', '<a>', '</a>')
  const numbered = Array.from({ length: SIZE / 12 }, (_, n) => ` a${100_000 + n}=""`).join('')

  test.each([
    ['attributes of one element', `<a${numbered}/>`],
    ['namespaces', filled('<b xmlns:c="d"/>', '<a>', '</a>')],
    ['one long text', filled('x', '<a>', '</a>')],
    ['references to characters', filled('&#10;', '<a>', '</a>')],
    ['brackets in a CDATA', filled(']', '<a><![CDATA[', ']]></a>')],
    ['comments', filled('<!---->', '<a>', '</a>')],
    ['an attribute that never ends', filled('x', '<a b="', '')],
    ['tags that never end', filled('<a b=""', '', '')],
  ])('%s', (_, text) => {
    expect(processorTimeOf(text)).toBeLessThan(8 * processorTimeOf(usual) + 20)
  })
})

const processorTimeOf = (text: string): number =>
  quickestOf(3, () => {
    try {
      parseXml(text)
    } catch (error) {
      expect(error).toBeInstanceOf(UnreadableXml)
    }
  })
