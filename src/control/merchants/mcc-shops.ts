export const shopMccs = `
5611 Menswear
5621 Womenswear
5631 Accessories for women
5641 Children’s clothes
5651 Clothes for the family
5655 Sportswear
5661 Shoe shops
5681 Furs
5691 Clothes for men and women
5697 Tailors and alterations
5698 Wigs
5699 Other clothes and accessories
5712 Furniture and furnishings
5713 Floor coverings
5714 Curtains and upholstery
5715 Alcoholic drinks, wholesale
5718 Fireplaces
5719 Other home furnishings
5722 Household appliances
5732 Electronics
5733 Musical instruments and scores
5734 Computer software
5735 Records
5811 Caterers
5812 Restaurants
5813 Bars, clubs and discotheques
5814 Fast food and cafés
5815 Digital books, films and music
5816 Digital games
5817 Digital applications
5818 Digital goods of several kinds
5912 Pharmacies
5921 Beer, wine and spirits
5931 Second-hand shops
5932 Antiques
5933 Pawnbrokers
5935 Scrap and salvage
5937 Antique reproductions
5940 Bicycles
5941 Sporting goods
5942 Bookshops
5943 Stationery and school supplies
5944 Jewellery and watches
5945 Toys, games and hobbies
5946 Cameras
5947 Gifts, cards and souvenirs
5948 Luggage and leather
5949 Sewing and fabrics
5950 Glass and crystal
5960 Insurance by direct marketing
5961 Mail order
5962 Travel by telephone marketing
5963 Sales at the door
5964 Catalogue sales
5965 Catalogue sales with shops
5966 Telephone sales, called by the seller
5967 Telephone and online sales, called by the buyer; adult content
5968 Subscriptions
5969 Other direct marketing
5970 Artists’ and craft supplies
5971 Art dealers and galleries
5972 Stamps and coins
5973 Religious goods
5975 Hearing aids
5976 Orthopaedic goods
5977 Cosmetics
5978 Typewriters
5983 Heating oil, wood, coal and gas
5992 Florists
5993 Tobacco
5994 Newsagents
5995 Pets and their food
5996 Swimming pools
5997 Electric razors
5998 Tents and awnings
5999 Other shops
`
