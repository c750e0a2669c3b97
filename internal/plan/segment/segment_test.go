package segment

import (
	"strings"
	"testing"
)

// The products of the paper, as it cuts them.
func TestProducts(t *testing.T) {
	s := New("早餐奶") // a kind of product that is in no dictionary
	for text, want := range map[string]string{
		"光明高钙牛奶": "光明 高钙 牛奶", "蒙牛早餐奶": "蒙牛 早餐奶", "雀巢中老年奶粉": "雀巢 中老年 奶粉",
		"whole milk, 1 litre": "whole milk 1 litre", "": "",
	} {
		got, err := s.Words(text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
