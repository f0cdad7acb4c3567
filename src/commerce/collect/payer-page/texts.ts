import type { Language } from '../../../web/language.ts'

export type PayerPageState = 'open' | 'under_way' | 'paid' | 'expired' | 'cancelled' | 'refunded'

interface Texts {
  readonly stateLabels: Readonly<Record<PayerPageState, string>>
  readonly stateHints: Readonly<Partial<Record<PayerPageState, string>>>
  readonly to: string
  readonly purpose: string
  readonly payBy: string
  readonly partlyPaid: (paid: string, due: string) => string
  readonly test: string
  readonly transfer: string
  readonly holder: string
  readonly amount: string
  readonly reference: string
  readonly referenceHint: string
  readonly code: string
  readonly codeHint: string
  readonly program: string
  readonly programHint: string
  readonly programExample: string
  readonly notPayable: string
  readonly request: string
  readonly unknown: string
  readonly unknownHint: string
}

const english: Texts = {
  stateLabels: {
    open: 'Payment request',
    under_way: 'Payment under way',
    paid: 'Paid',
    expired: 'Expired',
    cancelled: 'Cancelled',
    refunded: 'Refunded',
  },
  stateHints: {
    under_way: 'A payment is in progress. Please do not pay again. Reload this page in a minute.',
    paid: 'This request has been paid. You do not need to do anything.',
    expired: 'This request has expired. Please do not send money. Ask the payee for a new request.',
    cancelled: 'The payee has cancelled this request. Please do not send money.',
    refunded: 'This request was paid and has been refunded.',
  },
  to: 'to',
  purpose: 'For',
  payBy: 'Pay by',
  partlyPaid: (paid, due) => `${paid} received, ${due} still due.`,
  test: 'This is a test. No real money is involved.',
  transfer: 'By bank transfer',
  holder: 'Account holder',
  amount: 'Amount',
  reference: 'Reference',
  referenceHint: 'Please enter exactly this reference. It identifies your payment.',
  code: 'QR code that fills in the bank transfer',
  codeHint: 'Scan it with your banking app.',
  program: 'By a program',
  programHint:
    'A program that supports the Machine Payments Protocol requests this address, receives 402 Payment Required with a challenge, and pays by card:',
  programExample: 'An agent of this service pays it with its own intent:',
  notPayable: 'This request cannot be paid at the moment. Please contact the payee.',
  request: 'Request',
  unknown: 'No such payment request',
  unknownHint: 'Check the address, or ask the person who sent it to you.',
}

const german: Texts = {
  stateLabels: {
    open: 'Zahlungsaufforderung',
    under_way: 'Zahlung läuft',
    paid: 'Bezahlt',
    expired: 'Abgelaufen',
    cancelled: 'Zurückgezogen',
    refunded: 'Erstattet',
  },
  stateHints: {
    under_way:
      'Eine Zahlung wird gerade verarbeitet. Bitte zahlen Sie nicht noch einmal. Laden Sie diese Seite in einer Minute neu.',
    paid: 'Diese Zahlung ist eingegangen. Sie müssen nichts weiter tun.',
    expired:
      'Diese Aufforderung ist abgelaufen. Bitte überweisen Sie kein Geld, sondern bitten Sie den Empfänger um eine neue.',
    cancelled: 'Der Empfänger hat diese Aufforderung storniert. Bitte überweisen Sie kein Geld.',
    refunded: 'Diese Aufforderung wurde bezahlt und der Betrag erstattet.',
  },
  to: 'an',
  purpose: 'Für',
  payBy: 'Zahlbar bis',
  partlyPaid: (paid, due) => `${paid} sind eingegangen. ${due} sind noch offen.`,
  test: 'Dies ist ein Test. Es wird kein echtes Geld bewegt.',
  transfer: 'Per Überweisung',
  holder: 'Kontoinhaber',
  amount: 'Betrag',
  reference: 'Verwendungszweck',
  referenceHint: 'Bitte geben Sie genau diese Referenz an. Daran wird Ihre Zahlung erkannt.',
  code: 'QR-Code, der die Überweisung ausfüllt',
  codeHint: 'Mit Ihrer Banking-App scannen.',
  program: 'Mit einem Programm',
  programHint:
    'Ein Programm, das das Machine Payments Protocol unterstützt, ruft diese Adresse auf, erhält 402 Payment Required mit einer Challenge und zahlt mit Karte:',
  programExample: 'Ein Agent dieses Dienstes zahlt mit einem eigenen Intent:',
  notPayable: 'Im Moment kann diese Aufforderung nicht bezahlt werden. Bitte fragen Sie den Empfänger.',
  request: 'Aufforderung',
  unknown: 'Diese Zahlungsaufforderung gibt es nicht',
  unknownHint: 'Prüfen Sie die Adresse, oder fragen Sie die Person, die sie Ihnen geschickt hat.',
}

export const payerPageTexts: Readonly<Record<Language, Texts>> = { en: english, de: german }
