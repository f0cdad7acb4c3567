import './receipts/kept.ts'
import './receipts/matching.ts'
import './receipts/texts.ts'
