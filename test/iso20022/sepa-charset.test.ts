import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from '../../src/iso20022/sepa-charset.ts'

const SEPA = /^[A-Za-z0-9/?:().,'+ -]*$/
const spelled = (text: string): string => toSepaText(text, MAX_SEPA_NAME_LENGTH)

/** In the languages and alphabets of SEPA. */
const names: [string, string][] = [
  ['Jürgen Groß', 'Juergen Gross'],
  ['Bäckerei Öztürk', 'Baeckerei Oeztuerk'],
  ['MÜLLER & SÖHNE GMBH', 'MUELLER + SOEHNE GMBH'],
  ['GROẞE STRAẞE', 'GROSSE STRASSE'],
  ['Ägidius Übel', 'Aegidius Uebel'],
  ['Åse Ødegård', 'Ase Odegard'],
  ['Kærsgaard ApS', 'Kaersgaard ApS'],
  ['Ærø Færge A/S', 'Aero Faerge A/S'],
  ['Þórður Guðmundsson', 'Thordur Gudmundsson'],
  ['ÞÓRA', 'THORA'],
  ['François Lefèvre', 'Francois Lefevre'],
  ['Œuvres d’Émile Noël', "Oeuvres d'Emile Noel"],
  ['Josep Puig i Cadafalch', 'Josep Puig i Cadafalch'],
  ['Núñez, Muñoz y Cía.', 'Nunez, Munoz y Cia.'],
  ['João Gonçalves Conceição', 'Joao Goncalves Conceicao'],
  ['Łukasz Żółć', 'Lukasz Zolc'],
  ['Świętosława Dąbrowska', 'Swietoslawa Dabrowska'],
  ['Tomáš Dvořák', 'Tomas Dvorak'],
  ['Ľubomír Šťastný', 'Lubomir Stastny'],
  ['Őze Gyűrűs Kft.', 'Oze Gyurus Kft.'],
  ['Ștefan Țăran', 'Stefan Taran'],
  ['Şerban Ţuţea', 'Serban Tutea'],
  ['Ģirts Ķēniņš', 'Girts Kenins'],
  ['Žydrūnas Šarūnas Ąžuolas', 'Zydrunas Sarunas Azuolas'],
  ['Jüri Õunapuu', 'Jueri Ounapuu'],
  ['Väinö Yrjänä', 'Vaeinoe Yrjaenae'],
  ['Đorđe Čavić', 'Dorde Cavic'],
  ['Ġorġ Ħaż-Żabbar', 'Gorg Haz-Zabbar'],
  ['Siobhán Ó Súilleabháin', 'Siobhan O Suilleabhain'],
  ['Seán O’Brien', "Sean O'Brien"],
  ['Niccolò D´Alessandro', "Niccolo D'Alessandro"],
  ['Ŧuolla Ŋállá', 'Tuolla Nalla'],
  ['İbrahim Çağrı Yıldız', 'Ibrahim Cagri Yildiz'],
  ['Παπαδόπουλος', 'Papadopoylos'],
  ['Θάλεια Ψυχάρη', 'Thaleia Psychari'],
  ['ΘΕΟΔΩΡΟΣ ΧΡΗΣΤΟΥ', 'THEODOROS CHRISTOY'],
  ['Ξένια Φωτίου', 'Xenia Fotioy'],
  ['Ευάγγελος', 'Eyaggelos'],
  ['Щерю Цветанов', 'Shteryu Tsvetanov'],
  ['Юлия Жечева', 'Yuliya Zhecheva'],
  ['Ъглови Мебели ЕООД', 'Aglovi Mebeli EOOD'],
  ['Ямболска Чушка', 'Yambolska Chushka'],
  ['ШИПКА', 'SHIPKA'],
  ['Йордан Кръстев', 'Yordan Krastev'],
  ['Љубица Њежић', 'Ljubitsa Njezhic'],
  ['Ѓорѓи Ќосев', 'Gjorgji Kjosev'],
  ['Олексій Їжак', 'Oleksiy Yizhak'],
  ['Cafe „Zum Löwen“ [Inh. K. Ott]', "Cafe 'Zum Loewen' (Inh. K. Ott)"],
  ['a_b@c.de; 50% #1 €', 'a-b(at)c.de, 50. .1 E'],
  ['Straße 1 – Haus 2', 'Strasse 1 - Haus 2'],
  ['Nº 5 ﬁne ½ ²', 'No 5 fine 1.2 2'],
  ['  much \t room\n here ', 'much room here'],
  ['zero\u200bwidth', 'zerowidth'],
  ['de\u0301compose\u0308d', 'decomposed'],
  ['🚀 Rocket 火', '. Rocket .'],
]

describe('a text for SEPA', () => {
  test.each(names)('%s is spelled %s', (name, expected) => {
    expect(spelled(name)).toBe(expected)
  })

  test('is unchanged if it has SEPA’s characters only', () => {
    const all = "abcXYZ 019 / - ? : ( ) . , ' +"
    expect(spelled(all)).toBe(all)
  })

  test('is the same for composed and decomposed accents', () => {
    for (const [name, expected] of names) {
      expect(spelled(name.normalize('NFD'))).toBe(expected)
      expect(spelled(name.normalize('NFC'))).toBe(expected)
    }
  })

  test('is cut to the maximum, and never ends in a space', () => {
    expect(spelled('ß'.repeat(60))).toBe('s'.repeat(70))
    expect(toSepaText('abc def', 4)).toBe('abc')
  })

  test('has only SEPA’s characters, respects the maximum, and is stable, for any input', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 150 }),
        fc.integer({ min: 1, max: 140 }),
        (text, longest) => {
          const once = toSepaText(text, longest)
          expect(once).toMatch(SEPA)
          expect(once.length).toBeLessThanOrEqual(longest)
          expect(toSepaText(once, longest)).toBe(once)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('has only SEPA’s characters for every single Unicode character', () => {
    const wrong = []
    for (let point = 1; point <= 0x2ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue
      if (!SEPA.test(spelled(String.fromCodePoint(point)))) wrong.push(point.toString(16))
    }
    expect(wrong).toEqual([])
  })
})
